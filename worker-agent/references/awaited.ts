import { MAX_AVAILABLE } from "@jobferry/shared/protocol/limits.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Needed, nameOf, type Presence } from "./presence.ts";

export interface AwaitedOptions {
  presence: Pick<Presence, "isMissing">;
  transport: Pick<AgentTransport, "sendReport">;
  clock: Clock;
  logger: Logger;
}

const ROUND_MS = 2_000;
/** Objects looked for in one round; with more that are missing, each has its turn. */
const PER_ROUND = 20;
/** By then the manager has asked again, and was refused again or not. */
const REMEMBERED_MS = 15 * 60_000;
const MAX_JOBS = 4096;

interface Waiting {
  readonly since: number;
  readonly objects: Map<string, Needed>;
}

/**
 * Looks for what refused Jobs lacked here, and tells the manager when it is there: a Job goes on within seconds, not at the end
 * of a pause. Single reads, a few in a round: a watch would need the right to list all objects of that kind.
 */
export class Awaited {
  readonly #options: AwaitedOptions;
  /** Bounded; the oldest goes first. */
  readonly #jobs = new Map<HubUid, Waiting>();
  /** The object that was looked for last. */
  #last = "";
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: AwaitedOptions) {
    this.#options = options;
  }

  /** This Job was refused because these are missing. */
  note(uid: HubUid, missing: readonly Needed[]): void {
    this.#jobs.delete(uid);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size >= MAX_JOBS && oldest !== undefined) this.#jobs.delete(oldest);
    const objects = new Map(missing.map((object) => [nameOf(object), object]));
    this.#jobs.set(uid, { since: this.#options.clock.monotonic(), objects });
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
        .catch((error: unknown) => this.#options.logger.debug({ error }, "could not look for what Jobs lack"))
        .finally(() => {
          this.#cancel = undefined;
          this.#arm();
        })
        .catch(() => {});
    });
  }

  async #look(): Promise<void> {
    const { presence, clock, transport } = this.#options;
    for (const [uid, { since }] of this.#jobs) if (clock.monotonic() - since > REMEMBERED_MS) this.#jobs.delete(uid);
    const due = this.#due();
    const here = new Set<string>();
    await Promise.all(
      due.map(async ([name, object]) => {
        if (!(await presence.isMissing(object))) here.add(name);
      }),
    );
    const complete: HubUid[] = [];
    for (const [uid, { objects }] of this.#jobs) {
      for (const name of here) objects.delete(name);
      if (objects.size === 0) complete.push(uid);
    }
    for (let start = 0; start < complete.length; start += MAX_AVAILABLE) {
      const jobs = complete.slice(start, start + MAX_AVAILABLE);
      await transport.sendReport({ kind: "available", jobs });
      for (const uid of jobs) this.#jobs.delete(uid);
    }
  }

  /** The objects of this round: those after the last one, in the order of their names. */
  #due(): [string, Needed][] {
    const all = new Map([...this.#jobs.values()].flatMap(({ objects }) => [...objects]));
    const sorted = [...all].sort(([one], [other]) => (one < other ? -1 : 1));
    const start = Math.max(
      0,
      sorted.findIndex(([name]) => name > this.#last),
    );
    const due = [...sorted.slice(start), ...sorted.slice(0, start)].slice(0, PER_ROUND);
    this.#last = due.at(-1)?.[0] ?? "";
    return due;
  }
}
