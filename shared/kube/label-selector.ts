/** Label selectors in the query syntax: `a=b,c!=d,e in (f,g),!h,i>3`. Errors carry the API server's words. */
import { checkLabelValue, checkQualifiedName } from "../job/names.ts";

/** Says what is wrong with a key or value; the sandbox brings the API server's own words. */
interface SelectorChecks {
  readonly key: (key: string) => string[];
  readonly value: (value: string) => string[];
}

const CHECKS: SelectorChecks = { key: checkQualifiedName, value: checkLabelValue };

export class SelectorError extends Error {}

type Operator = "exists" | "!" | "in" | "notin" | "gt" | "lt";

interface Requirement {
  key: string;
  operator: Operator;
  values: Set<string>;
}

export type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean;

/** undefined for the empty selector, which matches everything. */
export function parseLabelSelector(
  text: string,
  checks = CHECKS,
  atMost = Number.POSITIVE_INFINITY,
): LabelMatcher | undefined {
  const requirements = new Parser(text, checks).parse();
  if (requirements.length > atMost)
    throw new SelectorError(`it has ${requirements.length} requirements, and at most ${atMost} are allowed`);
  if (requirements.length === 0) return undefined;
  return (labels) => requirements.every((requirement) => holds(requirement, labels ?? {}));
}

function holds({ key, operator, values }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "in":
      return value !== undefined && values.has(value);
    case "notin":
      return value === undefined || !values.has(value);
    case "gt":
    case "lt": {
      const [bound] = values;
      if (value === undefined || bound === undefined || !/^[+-]?\d+$/.test(value)) return false;
      return operator === "gt" ? Number(value) > Number(bound) : Number(value) < Number(bound);
    }
  }
}

class Parser {
  readonly #tokens: string[];
  readonly #checks: SelectorChecks;
  #at = 0;

  constructor(text: string, checks: SelectorChecks) {
    this.#checks = checks;
    this.#tokens = text.match(/\s+|==|!=|[=!(),<>]|[^\s=!(),<>]+/g)?.filter((token) => token.trim() !== "") ?? [];
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    if (this.#tokens.length === 0) return requirements;
    for (;;) {
      requirements.push(this.#requirement());
      const next = this.#take();
      if (next === "") return requirements;
      if (next !== ",") throw new SelectorError(`found '${next}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (following !== "!" && !isIdentifier(following))
        throw new SelectorError(`found '${following}', expected: identifier after ','`);
    }
  }

  #requirement(): Requirement {
    const negated = this.#peek() === "!";
    if (negated) this.#take();
    const key = this.#take();
    if (!isIdentifier(key)) throw new SelectorError(`found '${key}', expected: !, identifier, or 'end of string'`);
    this.#checkKey(key);
    if (negated) return { key, operator: "!", values: new Set() };
    const next = this.#peek();
    if (next === "" || next === ",") return { key, operator: "exists", values: new Set() };
    return this.#comparison(key, this.#take());
  }

  #comparison(key: string, operator: string): Requirement {
    switch (operator) {
      case "in":
      case "notin":
        return { key, operator, values: this.#checked(key, this.#set()) };
      case "=":
      case "==":
        return { key, operator: "in", values: this.#checked(key, new Set([this.#value()])) };
      case "!=":
        return { key, operator: "notin", values: this.#checked(key, new Set([this.#value()])) };
      case ">":
      case "gt":
        return { key, operator: "gt", values: integer(this.#value()) };
      case "<":
      case "lt":
        return { key, operator: "lt", values: integer(this.#value()) };
      default:
        throw unparsable(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #set(): Set<string> {
    const open = this.#take();
    if (open !== "(") throw unparsable(`found '${open}' expected: '('`);
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (token === ")") {
        if (values.size === 0) values.add("");
        return values;
      }
      if (token === ",") {
        const next = this.#peek();
        if (values.size === 0 || next === "," || next === ")") values.add("");
        continue;
      }
      if (!isIdentifier(token)) throw unparsable(`found '${token}', expected: ',', ')' or identifier`);
      values.add(token);
      const next = this.#peek();
      if (next !== "," && next !== ")") throw unparsable(`found '${next}', expected: ',' or ')'`);
    }
  }

  #value(): string {
    const next = this.#peek();
    if (next === "" || next === ",") return "";
    const value = this.#take();
    if (!isIdentifier(value)) throw unparsable(`found '${value}', expected: identifier`);
    return value;
  }

  #checkKey(key: string): void {
    const complaints = this.#checks.key(key);
    if (complaints.length > 0) throw unparsable(`<nil>: Invalid value: "${key}": ${complaints.join("; ")}`);
  }

  #checked(key: string, values: Set<string>): Set<string> {
    for (const [index, value] of [...values].entries()) {
      const complaints = this.#checks.value(value);
      if (complaints.length > 0)
        throw unparsable(`values[${index}][${key}]: Invalid value: "${value}": ${complaints.join("; ")}`);
    }
    return values;
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #take(): string {
    return this.#tokens[this.#at++] ?? "";
  }
}

const isIdentifier = (token: string): boolean => token !== "" && !/^(==|!=|[=!(),<>])$/.test(token);
const unparsable = (detail: string): SelectorError => new SelectorError(`unable to parse requirement: ${detail}`);

function integer(value: string): Set<string> {
  if (!/^[+-]?\d+$/.test(value))
    throw unparsable(`values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`);
  return new Set([value]);
}
