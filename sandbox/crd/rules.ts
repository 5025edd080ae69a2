import type { FieldFault } from "../api/errors.ts";
import { compile, type Expression } from "../cel/compile.ts";
import { isRecord } from "../store/frozen.ts";
import { fieldSchema, type Rule, type Schema } from "./schema.ts";

const compiled = new WeakMap<Rule, Expression>();

function expressionOf(rule: Rule): Expression {
  const known = compiled.get(rule);
  if (known !== undefined) return known;
  const expression = compile(rule.rule, ["self", "oldSelf"]);
  compiled.set(rule, expression);
  return expression;
}

/** Compiles every rule, so that a definition with one that cannot be carried out is refused. */
export function checkRules(schema: Schema): void {
  for (const rule of schema["x-kubernetes-validations"] ?? []) expressionOf(rule);
  for (const part of [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties])
    if (typeof part === "object") checkRules(part);
}

/** Rules that mention `oldSelf` hold only for changes. */
export function violatedRules(schema: Schema, value: unknown, before: unknown, path = ""): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const rule of schema["x-kubernetes-validations"] ?? []) {
    const expression = expressionOf(rule);
    if (expression.mentions("oldSelf") && before === undefined) continue;
    if (!holds(expression, { self: value, oldSelf: before })) faults.push(fault(rule, path));
  }
  if (Array.isArray(value) && schema.items !== undefined)
    for (const [index, item] of value.entries())
      faults.push(...violatedRules(schema.items, item, undefined, `${path}[${index}]`));
  if (isRecord(value))
    for (const key of Object.keys(value)) {
      const field = fieldSchema(schema, key);
      const earlier = isRecord(before) ? before[key] : undefined;
      if (field !== undefined)
        faults.push(...violatedRules(field, value[key], earlier, path === "" ? key : `${path}.${key}`));
    }
  return faults;
}

function holds(expression: Expression, scope: Record<string, unknown>): boolean {
  try {
    return expression.evaluate(scope) === true;
  } catch {
    // A rule that cannot be worked out on this value does not hold.
    return false;
  }
}

function fault(rule: Rule, path: string): FieldFault {
  const field = path === "" ? "<nil>" : path;
  return { field, kind: "Invalid", detail: rule.message ?? `failed rule: ${rule.rule}` };
}
