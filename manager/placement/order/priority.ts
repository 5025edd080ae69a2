import type { Job } from "@jobferry/shared/job/types.ts";

/** Priorities of Jobs lie between 0 and this, for everybody. */
const MAX_PRIORITY = 1_000_000;

export interface PriorityFacts {
  /** What the Job says itself. */
  readonly asked: number | undefined;
  /** The value of the PriorityClass of its pods. */
  readonly ofClass: number | undefined;
  /** The most that its queue lets anybody have. */
  readonly most: number | undefined;
}

/** The higher goes first. Its own word, else that of the PriorityClass (who may use it is the API server's business), within bounds. */
export function priorityOf({ asked, ofClass, most = MAX_PRIORITY }: PriorityFacts): number {
  return Math.max(0, Math.min(asked ?? ofClass ?? 0, most, MAX_PRIORITY));
}

/** The PriorityClass that its pods ask for; empty: none. */
export const classNameOf = ({ spec }: Job): string =>
  (spec.template.spec as { priorityClassName?: string }).priorityClassName ?? "";
