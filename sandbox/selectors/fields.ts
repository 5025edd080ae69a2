import { SelectorError } from "@jobferry/shared/kube/label-selector.ts";

interface FieldRequirement {
  field: string;
  value: string;
  negated: boolean;
}

export class FieldSelector {
  readonly requirements: readonly FieldRequirement[];

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements;
  }

  matches(read: (field: string) => string): boolean {
    return this.requirements.every(({ field, value, negated }) => (read(field) === value) !== negated);
  }

  /** The only value `field` may have, if the selector pins it. */
  pinned(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && !requirement.negated)?.value;
  }
}

/** Field selectors in the query syntax: `a=b,c!=d`, with `\,`, `\=` and `\\` as escapes. */
export function parseFieldSelector(text: string): FieldSelector | undefined {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text)) {
    if (term === "") continue;
    const match = /^((?:\\.|[^\\=!])*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = "", operator = "=", value = ""] = match;
    requirements.push({ field, value: unescapeValue(value, text), negated: operator === "!=" });
  }
  return requirements.length === 0 ? undefined : new FieldSelector(requirements);
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = "";
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === "\\") term += char + text.charAt(++i);
    else if (char === ",") {
      terms.push(term);
      term = "";
    } else term += char;
  }
  terms.push(term);
  return terms;
}

function unescapeValue(value: string, selector: string): string {
  let result = "";
  for (let i = 0; i < value.length; i++) {
    const char = value.charAt(i);
    if (char === "\\") {
      const next = value.charAt(++i);
      if (!["\\", ",", "="].includes(next))
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${next}`);
      result += next;
    } else if (char === "=") {
      throw new SelectorError(`invalid selector: '${selector}'; can't understand '${value}'`);
    } else result += char;
  }
  return result;
}
