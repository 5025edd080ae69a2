/** S-10 to S-13: what the Job looks like once this sync's creations and deletions were tried. */

import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { ScaleResult } from "./counts.ts";
import { completionsReached } from "./outcome.ts";
import type { Rules } from "./rules.ts";
import type { ScalePlan } from "./scale.ts";
import type { EventNote, Outcome, Pass } from "./types.ts";

export interface Scaled {
  readonly status: JobStatus;
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  readonly outcome: Outcome | undefined;
  /** SU-10: emitted before the status is written. */
  readonly events: readonly EventNote[];
  /** S-13 */
  readonly changed: boolean;
}

export function afterScale(rules: Rules, pass: Pass, plan: ScalePlan, result: ScaleResult): Scaled {
  const counts = rules.countsAfter(pass, plan, result);
  const outcome = outcomeAfter(rules, pass, plan, result, counts.active);
  const scaleRan = plan.kind !== "terminate" && plan.action !== "reconciling";
  const suspend =
    outcome === undefined && scaleRan ? rules.suspendChange(pass.job, pass.status, timestamp(pass.now)) : undefined;
  const { active, ready, terminating } = pass.status;
  return {
    ...counts,
    status: { ...(suspend?.status ?? pass.status), ...counts },
    outcome,
    events: suspend === undefined ? [] : [suspend.event],
    changed:
      suspend !== undefined ||
      counts.active !== (active ?? 0) ||
      counts.ready !== ready ||
      counts.terminating !== terminating,
  };
}

function outcomeAfter(
  rules: Rules,
  pass: Pass,
  plan: ScalePlan,
  result: ScaleResult,
  active: number,
): Outcome | undefined {
  if (plan.kind !== "terminate")
    return rules.isPlainlyComplete(pass.job, pass.succeeded, active) ? completionsReached : undefined;
  // S-10: pods may be left that the cache has not shown yet, and their finalizers with them.
  const allDeleted = result.removals.every((removal) => removal.deleted);
  return allDeleted && pass.satisfied ? pass.outcome : undefined;
}
