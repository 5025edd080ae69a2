import type { Job } from "@jobferry/shared/job/types.ts";
import { LEAVING } from "@jobferry/shared/protocol/marks.ts";
import type { Assignment } from "./phase.ts";

const KINDS = ["unschedulable", "preempted"] as const;

/**
 * Why a Job is asked back from a cluster that could keep it. Stored on the Job before its agent hears of it: what was begun is
 * brought to its end, also by the next manager and when the cause is gone, because the pods are being stopped.
 */
export interface Leaving {
  readonly kind: (typeof KINDS)[number];
  /** A sentence for the submitter. */
  readonly text: string;
}

export const leavingMark = ({ epoch }: Pick<Assignment, "epoch">, { kind, text }: Leaving): string =>
  `${epoch} ${kind} ${text}`;

/** Undefined: it stays. What was written in another epoch does not count. */
export function leavingOf(job: Job, { epoch }: Pick<Assignment, "epoch">): Leaving | undefined {
  const [, of, kind, text = ""] = /^(\d+) (\w+) ?(.*)$/s.exec(job.metadata.annotations?.[LEAVING] ?? "") ?? [];
  const known = KINDS.find((one) => one === kind);
  return known === undefined || Number(of) !== epoch ? undefined : { kind: known, text };
}
