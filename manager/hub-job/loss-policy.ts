import type { Job } from "@jobferry/shared/job/types.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import type { Assignment } from "../hub/phase.ts";
import { stoppedAfterMs } from "./stop-times.ts";

/** Its cluster is lost: may the Job start elsewhere? `silentMs`: how long nothing was heard of that cluster. */
export function mayLeave(job: Job, assignment: Assignment, policy: OnClusterLost, silentMs: number): boolean {
  if (policy === "Wait") return false;
  const { stopAfterSeconds: stopAfter } = assignment;
  // What was stored with the assignment is what its agent was told, whatever the policy says by now.
  if (stopAfter !== undefined) return silentMs >= stoppedAfterMs(job, stopAfter);
  return policy === "Redispatch";
}
