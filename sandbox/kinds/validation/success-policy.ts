/** VC-38 to VC-42. */
import { checkIndexes } from "@jobferry/shared/job/index-grammar.ts";
import type { SuccessPolicy } from "@jobferry/shared/job/types.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";

const MAX_RULES = 20;
const MAX_INDEXES_BYTES = 64 * 1024;

export function validateSuccessPolicy(
  v: Violations,
  path: string,
  { rules }: SuccessPolicy,
  completions: number,
): void {
  if (rules.length === 0) v.required(`${path}.rules`, "at least one rule is needed");
  if (rules.length > MAX_RULES) v.tooMany(`${path}.rules`, rules.length, MAX_RULES);
  rules.forEach((rule, index) => {
    validateRule(v, `${path}.rules[${index}]`, rule, completions);
  });
}

function validateRule(v: Violations, path: string, rule: SuccessPolicy["rules"][number], completions: number): void {
  const { succeededIndexes, succeededCount } = rule;
  if (succeededIndexes === undefined && succeededCount === undefined) {
    v.required(path, "give succeededCount or succeededIndexes");
  }
  let namedIndexes = 0;
  if (succeededIndexes !== undefined) {
    const field = `${path}.succeededIndexes`;
    if (Buffer.byteLength(succeededIndexes) > MAX_INDEXES_BYTES) v.tooLong(field, MAX_INDEXES_BYTES);
    const check = checkIndexes(succeededIndexes, completions);
    if ("error" in check) v.invalid(field, succeededIndexes, check.error);
    else namedIndexes = check.count;
  }
  if (succeededCount !== undefined) {
    const field = `${path}.succeededCount`;
    v.nonNegative(field, succeededCount);
    if (succeededCount > completions)
      v.invalid(field, succeededCount, `must not exceed the ${completions} completions`);
    if (succeededIndexes !== undefined && succeededCount > namedIndexes) {
      v.invalid(field, succeededCount, `must not exceed the ${namedIndexes} indexes of succeededIndexes`);
    }
  }
}
