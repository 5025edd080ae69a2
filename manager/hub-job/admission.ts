import type { Job } from "@jobferry/shared/job/types.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import type { Assignment } from "../hub/phase.ts";
import type { Books } from "../placement/growth.ts";

/**
 * Quotas are asked when a Job is placed. What it asks for may be edited afterwards: `parallelism` at any time, what its pods request
 * while it is suspended.
 */
export type Admission =
  /** It asks for what it was let in with. */
  | { readonly is: "same" }
  /** It asks for less, or its quota has room for more: this is stored, and delivered then. */
  | { readonly is: "other"; readonly parallelism: number }
  /** Its quota has no room for more: it keeps what it has, and is told so. */
  | { readonly is: "held"; readonly parallelism: number; readonly message: string }
  /** Its pods request something else: it has to be placed anew. Only a suspended Job can be edited so: nothing of it runs. */
  | { readonly is: "changed" };

const HELD = "runs with parallelism";

export function judgeAdmission(job: Job, assignment: Pick<Assignment, "admitted">, { booked, grow }: Books): Admission {
  if (assignment.admitted === "changed") return { is: "changed" };
  const admitted = assignment.admitted ?? booked;
  const asked = parallelismOf(job);
  const wasHeld = job.metadata.annotations?.[MESSAGE]?.startsWith(HELD) === true;
  if (admitted === asked || admitted === undefined)
    return wasHeld ? { is: "other", parallelism: asked } : { is: "same" };
  const why = asked < admitted ? undefined : grow();
  if (why === undefined) return { is: "other", parallelism: asked };
  return { is: "held", parallelism: admitted, message: `${HELD} ${admitted}, not ${asked}: ${why}` };
}

export const parallelismOf = ({ spec }: Pick<Job, "spec">): number => spec.parallelism ?? 1;
