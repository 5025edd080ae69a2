/** The data that the topics of one sync pass share. */

import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import type { IndexSet } from "./index-set.ts";

/** The constants of section 0.1 that a deployment or a test may change. */
export interface Limits {
  /** K-1: how long pod events are gathered before one sync handles them all. */
  syncBatchMs: number;
  /** K-2: first and longest wait after a failed sync. */
  retryBaseMs: number;
  retryMaxMs: number;
  /** K-3: first and longest wait before a failed pod is replaced. */
  podFailureBackoffMs: number;
  maxPodFailureBackoffMs: number;
  /** K-4: pods newly accounted per sync; bounds the size of the status document. */
  maxUncountedPods: number;
  /** K-5: pods created or deleted per sync, so that accounting is never starved by scaling. */
  maxPodsPerSync: number;
  /** More Jobs than this that begin within K-1 are a flood: see starts.ts. */
  floodStarts: number;
  /** K-7: a watch event that never came must not block a Job for ever. */
  expectationTimeoutMs: number;
}

export const defaultLimits: Limits = {
  syncBatchMs: 1000,
  retryBaseMs: 1000,
  retryMaxMs: 60_000,
  podFailureBackoffMs: 10_000,
  maxPodFailureBackoffMs: 600_000,
  maxUncountedPods: 500,
  maxPodsPerSync: 500,
  floodStarts: 10,
  expectationTimeoutMs: 300_000,
};

/** One claimed pod with everything a pass asks about it, worked out once (section 5). */
export interface PodFacts {
  readonly pod: Pod;
  readonly uid: string;
  readonly active: boolean;
  readonly terminating: boolean;
  readonly ready: boolean;
  readonly succeeded: boolean;
  /** CT-4: depends on the Job's replacement policy, not only on the phase. */
  readonly failed: boolean;
  /** The tracking finalizer is still on the cached pod. */
  readonly finalizer: boolean;
  /** SX-9: its removal was requested but not seen yet; the pod is accounted already. */
  readonly awaited: boolean;
  /** Undefined: not Indexed, or no valid index below completions (K-12, IX-9). */
  readonly index: number | undefined;
}

/** BO-1: failures since the last success, and when the latest of them happened. */
export interface BackoffRecord {
  readonly failures: number;
  readonly lastFailureMs: number;
  /** When a failure was last seen, by our own clock. */
  readonly seenMs: number;
}

export interface Outcome {
  readonly interim: "SuccessCriteriaMet" | "FailureTarget";
  readonly reason: string;
  readonly message: string;
  /** The interim condition is in the stored status already. */
  readonly recorded: boolean;
}

export interface IndexState {
  /** IX-5: what the status says. */
  readonly previous: IndexSet;
  /** IX-6: the same and the pods that succeeded since. */
  readonly succeeded: IndexSet;
  /** BI-2; undefined without backoffLimitPerIndex. */
  readonly failed: IndexSet | undefined;
  /** BI-7: the failed pod that is kept until its replacement runs, by index. */
  readonly delayed: ReadonlyMap<number, PodFacts>;
}

/** What one sync has found out before it touches anything (S-4 to S-9). */
export interface Pass {
  readonly job: Job;
  readonly status: JobStatus;
  readonly now: number;
  readonly limits: Limits;
  readonly pods: readonly PodFacts[];
  readonly active: readonly PodFacts[];
  readonly ready: number;
  readonly terminating: number;
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  readonly newSucceeded: readonly PodFacts[];
  readonly newFailed: readonly PodFacts[];
  readonly succeeded: number;
  readonly failed: number;
  readonly indexes: IndexState | undefined;
  readonly backoff: BackoffRecord;
  /** S-2: read before the pods were listed. */
  readonly satisfied: boolean;
  readonly outcome: Outcome | undefined;
  /** S-8.6: when the deadline will pass. */
  readonly deadlineInMs: number | undefined;
}

export interface EventNote {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}
