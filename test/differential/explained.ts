import type { Job } from "@jobferry/shared/job/types.ts";

/** The two sides at a step where they differ for good, and what quiet.ts says each has left to do. */
export interface Dispute {
  builtIn: { job: Job | undefined; work: readonly string[] };
  ours: { job: Job | undefined; work: readonly string[] };
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
];

export function explanationOf(dispute: Dispute): string | undefined {
  const explanation = EXPLANATIONS.find(({ covers }) => covers(dispute));
  return explanation && `${explanation.id}: ${explanation.why}`;
}
