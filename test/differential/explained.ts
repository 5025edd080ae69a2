import { completionIndex, hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "@jobferry/worker-agent/job-controller/core/index-set.ts";

interface Party {
  job: Job | undefined;
  pods: readonly Pod[];
  /** What quiet.ts says it has left to do. */
  work: readonly string[];
}

/** The two sides at a step where they differ for good. */
export interface Dispute {
  builtIn: Party;
  ours: Party;
}

interface Explanation {
  /** Behaviour id in the specification of the Job controller. */
  id: string;
  why: string;
  covers(dispute: Dispute): boolean;
}

/** Every disagreement that is meant to be. Anything else is a bug in our controller or in this test. */
const EXPLANATIONS: readonly Explanation[] = [
  {
    id: "SU-12",
    why:
      "the built-in controller cannot finish a Job that reaches its end while suspended: it has cleared startTime, and the " +
      "API server wants one; ours sets it",
    covers: ({ builtIn, ours }) =>
      builtIn.job?.spec.suspend === true &&
      builtIn.job.status?.startTime === undefined &&
      builtIn.work.some((work) => work.includes("S-12") || work.includes("CD-4")) &&
      ours.job?.status?.startTime !== undefined &&
      ours.work.length === 0,
  },
  {
    id: "BI-12",
    why:
      "the built-in controller lists an index as failed that it has listed as completed, when another pod of that index fails, and the " +
      "API server refuses every status after that (VS-17); ours leaves the index as it was",
    covers: ({ builtIn, ours }) =>
      builtIn.job?.spec.backoffLimitPerIndex !== undefined &&
      failedPodsOfCompletedIndexes(builtIn).some(hasTrackingFinalizer) &&
      failedPodsOfCompletedIndexes(ours).every((pod) => !hasTrackingFinalizer(pod)) &&
      ours.work.length === 0,
  },
];

function failedPodsOfCompletedIndexes({ job, pods }: Party): Pod[] {
  const completed = IndexSet.parse(job?.status?.completedIndexes, job?.spec.completions ?? 0);
  return pods.filter((pod) => pod.status?.phase === "Failed" && completed.has(completionIndex(pod) ?? -1));
}

export function explanationOf(dispute: Dispute): string | undefined {
  const explanation = EXPLANATIONS.find(({ covers }) => covers(dispute));
  return explanation && `${explanation.id}: ${explanation.why}`;
}
