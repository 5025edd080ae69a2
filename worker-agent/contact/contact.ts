import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { GENERATION } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, randomId } from "@jobferry/shared/runtime/random.ts";
import { keyOf, type Mirrors, stopAfterOf } from "../mirrors.ts";

export interface ContactOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  mirrors: Mirrors;
  /** Time is missing: see `missedTime`. */
  onStandstill(): void;
}

const CHECK_MS = 1_000;
/** No Job is given to another cluster after such a short silence, and a process that merely has much to do looks more often. */
const STANDSTILL_MS = 5_000;
/**
 * An agent that was restarted, or finds its clocks apart, does not know how long nobody heard it: without a word from the manager
 * in this time it stops what must be stopped.
 */
const FIRST_WORD_MS = 10_000;
const STOPPED_AT_ONCE = 16;

/**
 * The agent's half of `StopThenRedispatch`: a Job that says so is suspended here when contact has been lost for as long as its
 * delivery said, before the manager may give it to another cluster. Contact lasts from the sending of a heartbeat that the
 * manager is known to have heard, on this process's own monotonic clock, so no two clocks are ever compared and a message
 * that was on its way for long proves nothing. The mirror then counts as out of date, so that a manager that is heard again
 * delivers the Job anew or withdraws it.
 */
export class Contact {
  readonly #options: ContactOptions;
  readonly #process: string;
  /** Without a word, what must not run without contact may run until then. */
  #graceUntil = Number.POSITIVE_INFINITY;
  /** Time that passed while the monotonic clock stood still. */
  #lostMs = 0;
  /** When the newest heartbeat was sent that the manager has heard. */
  #heardAt: number | undefined;
  #cutOffAt = 0;
  #stampedAt = 0;
  /** What the leading manager wants to hear; empty before its first word. */
  nonce = "";
  #lookedAt: { readonly monotonic: number; readonly wall: number } | undefined;

  constructor(options: ContactOptions) {
    this.#options = options;
    this.#process = randomId(options.random);
  }

  /** For the heartbeat that is sent now. No two are alike: the manager takes each for a repetition that is not later. */
  stamp(): string {
    this.#stampedAt = Math.max(this.#stampedAt + 1, Math.floor(this.#now()));
    return `${this.#process}:${this.#stampedAt}`;
  }

  #now(): number {
    return this.#options.clock.monotonic() + this.#lostMs;
  }

  /**
   * How long this process was frozen, or its machine suspended, since it was last asked; 0 if it was not. To be asked before
   * anything is done that a delivery wants: that one may have lain in Redis since.
   */
  missedTime(): number {
    const { clock, logger } = this.#options;
    const [before, now] = [this.#lookedAt, { monotonic: clock.monotonic(), wall: clock.now() }];
    this.#lookedAt = now;
    if (before === undefined) return 0;
    const [monotonic, wall] = [now.monotonic - before.monotonic, now.wall - before.wall];
    if (Math.max(monotonic, wall) < STANDSTILL_MS) return 0;
    if (wall - monotonic >= STANDSTILL_MS) {
      // The machine was suspended, or somebody set its clock: only the manager can tell.
      this.#lostMs += wall - monotonic;
      this.#graceUntil = this.#now() + FIRST_WORD_MS;
    }
    const ms = Math.max(monotonic, wall);
    logger.warn({ ms }, "this process stood still: what was sent meanwhile waits for the manager's word");
    return ms;
  }

  /** Redis is away, or we were. What it keeps for us may be old by the time we read it. */
  cutOff(): void {
    this.#cutOffAt = Math.floor(this.#now());
  }

  /** The manager has heard the heartbeat with this stamp; one of an earlier process means nothing here. */
  heard(stamp: string | undefined): void {
    const sentAt = this.#sentAt(stamp);
    if (sentAt === undefined) return;
    this.#heardAt = Math.max(this.#heardAt ?? 0, sentAt);
    if (sentAt >= this.#cutOffAt) this.#graceUntil = 0;
  }

  /** Whoever gives this stamp back has heard us since we were started, or last cut off. */
  isAnswer(stamp: string | undefined): boolean {
    return (this.#sentAt(stamp) ?? Number.NEGATIVE_INFINITY) >= this.#cutOffAt;
  }

  #sentAt(stamp: string | undefined): number | undefined {
    const [process, sentAt] = stamp?.split(":") ?? [];
    return process === this.#process && /^\d{1,15}$/.test(sentAt ?? "") ? Number(sentAt) : undefined;
  }

  /** May a Job run that has to stop this long after contact was lost? */
  holds(stopAfterSeconds: number): boolean {
    const now = this.#now();
    return now < this.#graceUntil || (this.#heardAt !== undefined && now < this.#heardAt + stopAfterSeconds * 1000);
  }

  /** Looks for missing time and stops what has to be stopped, until `signal` aborts; a slow stop does not pass for missing time. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, onStandstill } = this.#options;
    if (this.#heardAt === undefined) this.#graceUntil = this.#now() + FIRST_WORD_MS;
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    let stopping: Promise<void> | undefined;
    let cancel = (): void => {};
    const look = (): void => {
      if (this.missedTime() > 0) onStandstill();
      const late = stopping === undefined ? this.#late() : [];
      if (late.length > 0)
        stopping = this.#stopAll(late).finally(() => {
          stopping = undefined;
        });
      cancel = clock.after(CHECK_MS, look);
    };
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) return;
    look();
    await aborted;
    cancel();
    await stopping;
  }

  #late(): Job[] {
    const late: Job[] = [];
    for (const { mirror } of this.#options.mirrors.all()) {
      const stopAfter = stopAfterOf(mirror);
      if (stopAfter !== undefined && mirror.spec.suspend !== true && !isFinished(mirror) && !this.holds(stopAfter))
        late.push(mirror);
    }
    return late;
  }

  async #stopAll(late: readonly Job[]): Promise<void> {
    for (let start = 0; start < late.length; start += STOPPED_AT_ONCE) {
      const results = await Promise.allSettled(
        late.slice(start, start + STOPPED_AT_ONCE).map((mirror) => this.#stop(mirror)),
      );
      for (const result of results)
        if (result.status === "rejected")
          this.#options.logger.warn({ error: result.reason }, "could not stop a mirror");
    }
  }

  async #stop(mirror: Job): Promise<void> {
    const { api, logger } = this.#options;
    logger.warn(keyOf(mirror), "contact with the manager is lost: stopping the Job's pods");
    const body = {
      metadata: { uid: mirror.metadata.uid, annotations: { [GENERATION]: null } },
      spec: { suspend: true },
    };
    await api.patch(jobs, keyOf(mirror), { type: "merge", body });
  }
}
