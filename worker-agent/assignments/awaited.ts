import { MAX_AVAILABLE } from "@jobferry/shared/protocol/limits.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Cause } from "./causes.ts";

export interface AwaitedOptions {
  transport: Pick<AgentTransport, "sendReport">;
  clock: Clock;
  logger: Logger;
}

const ROUND_MS = 2_000;
/** Causes looked at in one round; with more, each has its turn. */
const PER_ROUND = 20;
/** What has lasted for long is looked at less often: after this part of the time it has lasted, or after the longest pause. */
const PATIENCE = 0.1;
const LONGEST_PAUSE_MS = 30_000;
/** By then the manager has asked again, and was refused again or not. */
const REMEMBERED_MS = 15 * 60_000;
const MAX_JOBS = 4096;

interface Waiting {
  readonly since: number;
  /** By name. */
  readonly causes: Map<string, Cause>;
}

interface Look {
  readonly cause: Cause;
  readonly since: number;
  at: number;
}

/**
 * Looks whether what Jobs were refused for still holds, and tells the manager when it does not: a Job goes on within seconds, not at
 * the end of a pause. Single requests, a few in a round: a watch would need the right to list all objects of that kind.
 */
export class Awaited {
  readonly #options: AwaitedOptions;
  /** Bounded; the oldest goes first. */
  readonly #jobs = new Map<HubUid, Waiting>();
  /** When to look at each cause next; one look for all Jobs that it keeps away. */
  readonly #looks = new Map<string, Look>();
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: AwaitedOptions) {
    this.#options = options;
  }

  /** This Job was refused for these. */
  note(uid: HubUid, causes: readonly Cause[]): void {
    this.#jobs.delete(uid);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size >= MAX_JOBS && oldest !== undefined) this.#jobs.delete(oldest);
    const since = this.#options.clock.monotonic();
    this.#jobs.set(uid, { since, causes: new Map(causes.map((cause) => [cause.name, cause])) });
    for (const cause of causes)
      if (!this.#looks.has(cause.name)) this.#looks.set(cause.name, { cause, since, at: since + ROUND_MS });
    this.#arm();
  }

  /** It is here again, or over. */
  forget(uid: HubUid): void {
    this.#jobs.delete(uid);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #arm(): void {
    if (this.#stopped || this.#cancel !== undefined || this.#jobs.size === 0) return;
    this.#cancel = this.#options.clock.after(ROUND_MS, () => {
      this.#look()
        .catch((error: unknown) => this.#options.logger.debug({ error }, "could not tell what is mended"))
        .finally(() => {
          this.#cancel = undefined;
          this.#arm();
        })
        .catch(() => {});
    });
  }

  async #look(): Promise<void> {
    const { clock, transport, logger } = this.#options;
    this.#tidy(clock.monotonic());
    const mended = new Set<string>();
    await Promise.all(
      this.#due(clock.monotonic()).map(async (look) => {
        const { cause, since } = look;
        try {
          if (await cause.isMended()) mended.add(cause.name);
        } catch (error) {
          logger.debug({ error, cause: cause.name }, "could not look whether a refusal still holds");
        }
        const now = clock.monotonic();
        look.at = now + Math.min(LONGEST_PAUSE_MS, PATIENCE * (now - since));
      }),
    );
    const complete: HubUid[] = [];
    for (const [uid, { causes }] of this.#jobs) {
      for (const name of mended) causes.delete(name);
      if (causes.size === 0) complete.push(uid);
    }
    for (let start = 0; start < complete.length; start += MAX_AVAILABLE) {
      const jobs = complete.slice(start, start + MAX_AVAILABLE);
      await transport.sendReport({ kind: "available", jobs });
      for (const uid of jobs) this.#jobs.delete(uid);
    }
  }

  /** Forgets Jobs that have waited too long, and causes that keep nobody away any more. */
  #tidy(now: number): void {
    const kept = new Set<string>();
    for (const [uid, { since, causes }] of this.#jobs)
      if (now - since > REMEMBERED_MS) this.#jobs.delete(uid);
      else for (const name of causes.keys()) kept.add(name);
    for (const name of this.#looks.keys()) if (!kept.has(name)) this.#looks.delete(name);
  }

  /** Those of this round: whose turn it has been for longest. */
  #due(now: number): Look[] {
    const due = [...this.#looks.values()].filter(({ at }) => at <= now);
    return due.sort((one, other) => one.at - other.at).slice(0, PER_ROUND);
  }
}
