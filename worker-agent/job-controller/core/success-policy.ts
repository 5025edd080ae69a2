/** Section 18: has an Indexed Job succeeded before all its indexes have? */

import type { Job, SuccessPolicy } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "./index-set.ts";
import { indexCount } from "./job-spec.ts";

/** SP-2, SP-3: the message of the first rule that is met. */
export function successPolicyMessage(job: Job, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined;
  const rules = job.spec.successPolicy?.rules ?? [];
  const met = rules.findIndex((rule) => isRuleMet(rule, succeeded, indexCount(job)));
  return met < 0 ? undefined : `Matched rules at index ${met}`;
}

/** SP-4, SP-5 */
function isRuleMet(rule: SuccessPolicy["rules"][number], succeeded: IndexSet, completions: number): boolean {
  const { succeededIndexes, succeededCount } = rule;
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
  const required = IndexSet.parse(succeededIndexes, completions);
  if (required.size === 0) return false;
  const reached = required.intersectionSize(succeeded);
  return reached === required.size || (succeededCount !== undefined && reached >= succeededCount);
}
