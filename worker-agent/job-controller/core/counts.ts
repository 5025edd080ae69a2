/** CT-11 to CT-15: the counters after this sync's own creations and deletions, which the cache does not show yet. */
import type { ScalePlan } from "./scale.ts";
import type { Pass, PodFacts } from "./types.ts";

/** What became of one pod that was to go. */
export interface RemovalResult {
  readonly facts: PodFacts;
  /** Deleted, or found gone (CT-14). */
  readonly deleted: boolean;
  /** The finalizer could not be removed, so no delete was tried. */
  readonly finalizerKept: boolean;
}

export interface ScaleResult {
  readonly removals: readonly RemovalResult[];
  /** Creations that failed or were not tried because an earlier one failed (SX-4). */
  readonly notCreated: number;
}

export const nothingScaled: ScaleResult = { removals: [], notCreated: 0 };

export interface Counts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

/** CT-15: while replacements wait for their back-off, the running pods are still reported. */
export function countsAfter(pass: Pass, plan: ScalePlan, { removals, notCreated }: ScaleResult): Counts {
  const deleted = removals.filter((removal) => removal.deleted).length;
  const created = plan.kind === "create" ? plan.pods.length - notCreated : 0;
  const gone = removals.filter((removal) => !removal.finalizerKept).map((removal) => removal.facts);
  return {
    active: pass.active.length + created - deleted,
    ready: pass.ready - gone.filter((facts) => facts.ready).length,
    terminating: pass.terminating + deleted,
  };
}
