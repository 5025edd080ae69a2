import { type Amounts, podRequests } from "@jobferry/shared/job/requests.ts";
import type { Job } from "@jobferry/shared/job/types.ts";

/** What a Job takes while it runs. */
export interface Needs {
  /** Requests of one pod. */
  readonly perPod: Amounts;
  /** Pods that run at a time. */
  readonly pods: number;
}

export function needsOf({ spec }: Job): Needs {
  const pods = Math.max(1, Math.min(spec.parallelism ?? 1, spec.completions ?? Number.POSITIVE_INFINITY));
  return { perPod: podRequests(spec.template.spec), pods };
}
