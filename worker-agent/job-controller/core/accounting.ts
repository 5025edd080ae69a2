/**
 * Section 20: count every pod exactly once although Job and pod cannot be written together, and the controller may stop
 * anywhere. First the finished pods' UIDs go into the status (write #1), then their finalizers go, then the UIDs turn into
 * counters (write #2). Whoever comes after a crash finds in the status which pods are on their way.
 */
import type { Job, JobStatus, PodFailurePolicyAction } from "@jobferry/shared/job/types.ts";
import type { Scaled } from "./after-scale.ts";
import { withInterim, withTerminal } from "./finish.ts";
import { isIndexed } from "./job-spec.ts";
import { countsAsFailure, matchFailurePolicy } from "./pod-failure-policy.ts";
import type { Rules } from "./rules.ts";
import { uncountedLists } from "./tracking.ts";
import type { Outcome, Pass, PodFacts } from "./types.ts";

export interface Accounting {
  /** Write #1 when `write` is set, else only the base of write #2. */
  readonly status: JobStatus;
  readonly write: boolean;
  /** Pods that lose their finalizer once `status` is stored. */
  readonly release: readonly PodFacts[];
  /** UIDs of pods that hold their finalizer before the release. */
  readonly holding: ReadonlySet<string>;
  /** TK-10: more finished pods are left for the next sync. */
  readonly cut: boolean;
  readonly policyActions: ReadonlyMap<PodFailurePolicyAction, number>;
}

export function planAccounting(rules: Rules, pass: Pass, scaled: Scaled): Accounting {
  const tracked = pass.pods.filter((facts) => facts.finalizer && !facts.awaited);
  const holding = new Set(tracked.map((facts) => facts.uid));
  const cleaned = rules.moveCounted(scaled.status, holding);
  const ledger = new Ledger(pass, cleaned);
  const releasable = inIndexOrder(
    pass,
    tracked.filter((facts) => rules.mayRelease(pass, scaled.outcome, facts)),
  );
  const release: PodFacts[] = [];
  for (const facts of releasable) {
    release.push(facts);
    ledger.enter(facts, scaled.outcome);
    if (ledger.size >= pass.limits.maxUncountedPods) break;
  }
  const status = withInterim(withIndexes(pass, ledger.status()), scaled.outcome, pass.now);
  return {
    status,
    write: scaled.changed || ledger.grew || status !== scaled.status,
    release,
    holding,
    cut: ledger.size >= pass.limits.maxUncountedPods,
    policyActions: ledger.policyActions,
  };
}

/** TK-1: low indexes first, so that the status strings stay short. */
const inIndexOrder = (pass: Pass, pods: PodFacts[]): PodFacts[] =>
  pass.indexes === undefined ? pods : pods.sort((a, b) => (a.index ?? -1) - (b.index ?? -1));

/** TK-11, IX-7, BI-1: the same object when the strings say so already. A change of completions alone may change them (IX-11). */
function withIndexes({ indexes }: Pass, status: JobStatus): JobStatus {
  if (indexes === undefined) return status;
  const completedIndexes = indexes.succeeded.toString();
  const failedIndexes = indexes.failed?.toString();
  if ((status.completedIndexes ?? "") === completedIndexes && status.failedIndexes === failedIndexes) return status;
  const { failedIndexes: _, ...rest } = status;
  return {
    ...rest,
    succeeded: indexes.succeeded.size,
    completedIndexes,
    ...(failedIndexes !== undefined && { failedIndexes }),
  };
}

export interface Finish {
  readonly status: JobStatus;
  readonly write: boolean;
  /** Set when this write makes the Job finished. */
  readonly finished: Outcome | undefined;
}

/** TK-16 to TK-19. `stored`: the status as it was last written. `released`: UIDs whose finalizer is gone. */
export function afterRelease(
  rules: Rules,
  job: Job,
  accounting: Accounting,
  outcome: Outcome | undefined,
  stored: JobStatus,
  released: ReadonlySet<string>,
  now: number,
): Finish {
  const holding = new Set(accounting.holding);
  for (const uid of released) holding.delete(uid);
  const counted = rules.moveCounted(stored, holding);
  const allReleased = accounting.release.every((facts) => released.has(facts.uid));
  if (!allReleased || !rules.mayFinish(outcome, counted, accounting.cut))
    return { status: counted, write: counted !== stored, finished: undefined };
  return { status: withTerminal(job, counted, outcome, now), write: true, finished: outcome };
}

/** TK-5 to TK-8: who enters the uncounted lists. */
class Ledger {
  readonly policyActions = new Map<PodFailurePolicyAction, number>();
  grew = false;
  readonly #pass: Pass;
  readonly #base: JobStatus;
  readonly #succeeded: string[];
  readonly #failed: string[];
  #newIndexes = 0;

  constructor(pass: Pass, base: JobStatus) {
    this.#pass = pass;
    this.#base = base;
    this.#succeeded = [...(base.uncountedTerminatedPods?.succeeded ?? [])];
    this.#failed = [...(base.uncountedTerminatedPods?.failed ?? [])];
  }

  /** TK-10 */
  get size(): number {
    return this.#newIndexes + this.#succeeded.length + this.#failed.length;
  }

  /** TK-7: what was listed first stays, or the same UID on both lists would be refused for ever (VS-10). */
  enter(facts: PodFacts, outcome: Outcome | undefined): void {
    const { succeeded, failed } = this.#pass.uncounted;
    if (succeeded.has(facts.uid) || failed.has(facts.uid)) return;
    if (facts.succeeded) this.#enterSuccess(facts);
    else if (facts.failed || outcome?.interim === "FailureTarget") this.#enterFailure(facts);
  }

  #enterSuccess(facts: PodFacts): void {
    const { indexes } = this.#pass;
    if (indexes === undefined) this.#succeeded.push(facts.uid);
    else {
      if (facts.index === undefined || indexes.previous.has(facts.index)) return;
      this.#newIndexes++;
    }
    this.grew = true;
  }

  #enterFailure(facts: PodFacts): void {
    const { job } = this.#pass;
    if (isIndexed(job) && facts.index === undefined) return;
    const match = matchFailurePolicy(job, facts.pod);
    if (match !== undefined) this.policyActions.set(match.action, (this.policyActions.get(match.action) ?? 0) + 1);
    if (!countsAsFailure(match)) return;
    this.#failed.push(facts.uid);
    this.grew = true;
  }

  status(): JobStatus {
    if (!this.grew) return this.#base;
    return { ...this.#base, uncountedTerminatedPods: uncountedLists(this.#succeeded, this.#failed) };
  }
}
