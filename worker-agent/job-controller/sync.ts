/** Section 3: one sync of one Job, as a list of steps. What each step decides is in core/, how it is done in executor/. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Accounting, afterRelease, planAccounting } from "./core/accounting.ts";
import { type Claim, mayAdopt } from "./core/admit.ts";
import { afterScale, type Scaled } from "./core/after-scale.ts";
import { annotationWarnings } from "./core/annotation-warnings.ts";
import { assess } from "./core/assess.ts";
import { terminalEvents } from "./core/finish.ts";
import { isMereStart } from "./core/mere-start.ts";
import type { Rules } from "./core/rules.ts";
import type { ScalePlan, SyncAction } from "./core/scale.ts";
import type { EventNote, Limits, Pass } from "./core/types.ts";
import { nothingWritten, type WriteRecord } from "./core/write-record.ts";
import type { Executor } from "./executor/executor.ts";
import type { JobMemory, Memories } from "./memory.ts";
import type { JobMetrics } from "./metrics.ts";
import { Starts } from "./starts.ts";

/** What a sync reads; the reflectors' caches implement it. */
export interface JobCache {
  job(key: string): Job | undefined;
  /** AD-1: pods owned by this Job's UID that may still matter, or all of them. */
  ownedPods(job: Job, settledToo: boolean): Pod[];
  /** AD-1: pods without a controller that the Job's selector could match. */
  orphanPods(job: Job): Pod[];
  resourceVersions(): WriteRecord;
}

export interface SyncOptions {
  claim: Claim;
  limits: Limits;
  rules: Rules;
  clock: Clock;
  cache: JobCache;
  memories: Memories;
  executor: Executor;
  metrics: JobMetrics;
  logger: Logger;
  emit(job: Job, note: EventNote): void;
  /** Called when a sync is about to look at everything that has happened so far. */
  begins(key: string): void;
  ends(key: string): void;
}

export type SyncResult = undefined | { requeueAfterMs: number };

export class JobSync {
  readonly #options: SyncOptions;
  readonly #starts: Starts;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#starts = new Starts(options.limits);
  }

  /** Resolves when done, with a time when to look again; rejects to be retried with back-off (K-2). */
  async run(key: string): Promise<SyncResult> {
    const { limits, cache, memories } = this.#options;
    const job = cache.job(key);
    const memory = memories.find(job?.metadata.uid ?? "");
    if (memory !== undefined && this.#isStale(key, memory)) return { requeueAfterMs: limits.retryBaseMs };
    this.#options.begins(key);
    try {
      return await this.#admitted(key, job, memory);
    } finally {
      this.#options.ends(key);
    }
  }

  async #admitted(key: string, job: Job | undefined, memory: JobMemory | undefined): Promise<SyncResult> {
    const { claim, rules, memories, emit, logger } = this.#options;
    const uid = job?.metadata.uid ?? "";
    const admission = rules.admit(job, claim, memory?.finishWritten ?? false);
    switch (admission) {
      case "finished":
        memories.drop(uid);
        return undefined;
      case "unknown-mode":
        if (job !== undefined)
          emit(job, {
            type: "Warning",
            reason: "UnknownCompletionMode",
            message: "Skipped Job sync because completion mode is unknown",
          });
        return undefined;
      case "gone":
      case "external":
      case "finish-unseen":
        logger.debug({ key, admission }, "nothing to sync");
        return undefined;
      case "sync":
        return job && (await this.#measured(job, memories.of(uid)));
    }
  }

  /** SW-8 */
  #isStale(key: string, memory: JobMemory): boolean {
    const { rules, cache, metrics, logger } = this.#options;
    const stale = rules.staleCache(memory.written, cache.resourceVersions());
    memory.waitsForCache = stale !== undefined;
    if (stale === undefined) {
      memory.urgent = false;
      memory.written = nothingWritten;
      return false;
    }
    metrics.staleSync(stale);
    logger.debug({ key, cache: stale }, "waiting for the cache to show our own writes");
    return true;
  }

  async #measured(job: Job, memory: JobMemory): Promise<SyncResult> {
    const { clock, metrics } = this.#options;
    const began = clock.monotonic();
    const trace: { action: SyncAction } = { action: "reconciling" };
    let result: "success" | "error" = "error";
    try {
      const next = await this.#sync(job, memory, trace);
      result = "success";
      return next;
    } finally {
      metrics.synced(job, result, trace.action, (clock.monotonic() - began) / 1000);
    }
  }

  async #sync(job: Job, memory: JobMemory, trace: { action: SyncAction }): Promise<SyncResult> {
    const { limits, rules, clock, executor, emit } = this.#options;
    this.#warnOfAnnotations(job, memory);
    // S-2: before the pods are listed, or a pod appearing in between is created twice.
    const satisfied = rules.isSatisfied(memory.expectations, clock.monotonic(), limits.expectationTimeoutMs);
    const pods = await this.#claimPods(job, memory);
    const { awaited, backoff, startTime } = memory;
    const pass = assess(rules, { job, pods, now: clock.now(), limits, satisfied, awaited, backoff, startTime });
    const plan = rules.planScale(pass);
    trace.action = plan.action;
    memory.wantsMorePods = plan.kind === "create" && plan.pods.length >= limits.maxPodsPerSync;
    const { result, error } = await executor.scale(job, plan, memory);
    const scaled = afterScale(rules, pass, plan, result);
    for (const note of scaled.events) emit(job, note);
    const accounting = planAccounting(rules, pass, scaled);
    if (error === undefined && this.#startMayWait(pass, scaled, accounting, memory))
      return { requeueAfterMs: limits.syncBatchMs };
    await this.#account(pass, scaled, accounting, memory);
    // S-15: the status is flushed even when pods could not be created.
    if (error !== undefined) throw error;
    return nextSync(pass, plan, accounting);
  }

  #startMayWait(pass: Pass, scaled: Scaled, accounting: Accounting, memory: JobMemory): boolean {
    if (memory.startTime !== undefined || !isMereStart(pass, scaled, accounting)) return false;
    if (!this.#starts.isFlood(this.#options.clock.monotonic())) return false;
    memory.startTime = accounting.status.startTime;
    return true;
  }

  /** Once each, until the annotation is changed. */
  #warnOfAnnotations(job: Job, memory: JobMemory): void {
    const warnings = annotationWarnings(job);
    for (const note of warnings) if (!memory.annotationWarnings.has(note.message)) this.#options.emit(job, note);
    memory.annotationWarnings = new Set(warnings.map(({ message }) => message));
  }

  /** S-3 */
  async #claimPods(job: Job, memory: JobMemory): Promise<readonly Pod[]> {
    const { rules, cache, executor, claim } = this.#options;
    const settledToo = memory.settledUnchecked;
    memory.settledUnchecked = false;
    try {
      const orphans = cache.orphanPods(job).filter((pod) => mayAdopt(job, pod, claim));
      const plan = rules.planClaim(job, cache.ownedPods(job, settledToo), orphans);
      return await executor.claim(job, plan, memory);
    } catch (error) {
      memory.settledUnchecked ||= settledToo;
      throw error;
    }
  }

  /** S-14, TK-13 to TK-19 */
  async #account(pass: Pass, scaled: Scaled, accounting: Accounting, memory: JobMemory): Promise<void> {
    const { rules, clock, executor, metrics } = this.#options;
    let stored = pass.job;
    if (accounting.write) {
      stored = await executor.writeStatus(pass.job, accounting.status, memory);
      memory.backoff = pass.backoff;
      metrics.statusWritten(pass.job, pass.job.status ?? {}, stored.status ?? {});
    }
    metrics.policyMatched(accounting.policyActions);
    const { released, error } = await executor.release(accounting.release, memory);
    const base = accounting.write ? (stored.status ?? {}) : accounting.status;
    const finish = afterRelease(rules, pass.job, accounting, scaled.outcome, base, released, clock.now());
    if (finish.write) {
      const last = await executor.writeStatus(stored, finish.status, memory);
      metrics.statusWritten(pass.job, stored.status ?? {}, last.status ?? {});
      if (isFinished(last)) memory.finishWritten = true;
      if (finish.finished !== undefined) this.#announce(last, finish.finished);
    }
    if (error !== undefined) throw error;
  }

  /** CD-9 */
  #announce(job: Job, outcome: NonNullable<Pass["outcome"]>): void {
    const { metrics, emit } = this.#options;
    for (const note of terminalEvents(job, job.status ?? {}, outcome)) emit(job, note);
    metrics.jobFinished(job, outcome);
  }
}

/** The earliest of: now, because accounting was cut (TK-10); the end of a back-off (BO-7); the deadline (DL-4). */
function nextSync(pass: Pass, plan: ScalePlan, accounting: Accounting): SyncResult {
  const waits: number[] = [];
  if (accounting.cut) waits.push(0);
  if (plan.kind === "wait") waits.push(plan.forMs);
  if (pass.deadlineInMs !== undefined) waits.push(pass.deadlineInMs);
  return waits.length === 0 ? undefined : { requeueAfterMs: Math.max(0, Math.min(...waits)) };
}
