import type { Cluster, Redis } from "ioredis";
import { MAX_ENVELOPE_CHARS } from "../protocol/limits.ts";
import type { Outcome } from "./attempt.ts";
import { QUARANTINE_KEPT, QUARANTINE_TEXT_BYTES } from "./bus.ts";
import { SCRIPTS } from "./scripts.ts";

export type Client = Redis | Cluster;

/** The largest envelope as JSON: in quotation marks, with its one line break escaped. */
const MAX_TEXT_BYTES = MAX_ENVELOPE_CHARS + 3;

/** @internal At least as many as a receiver has in hand at once. */
export const MAX_SWEPT = 200;

export interface Taken {
  readonly id: string;
  readonly token: string;
  readonly tries: number;
  /** As BullMQ stored it; absent when it is too large to be read. */
  readonly data: string | undefined;
}

type Script = (...args: (string | number)[]) => Promise<unknown>;

/** The keys of one BullMQ queue, and the scripts that take messages out of it. */
export class Box {
  /** Everything of this queue begins so. */
  readonly prefix: string;
  readonly #client: Client;

  constructor(client: Client, prefix: string, queue: string) {
    this.#client = client;
    this.prefix = `${prefix}:${queue}:`;
    for (const [name, script] of Object.entries(SCRIPTS)) {
      if (!(name in client)) client.defineCommand(name, script);
    }
  }

  /** The next message, or when to look again (0: when one arrives). */
  async take(token: string, lockMs: number, now: number): Promise<Taken | { readonly dueAt: number }> {
    const keys = this.#keys("wait", "active", "prioritized", "delayed", "marker");
    const answer = await this.#run("jobferryTake", ...keys, this.prefix, token, lockMs, now, MAX_TEXT_BYTES);
    const [id, second, data] = answer as [string | null, number, string | null];
    if (id === null) return { dueAt: second };
    return { id, token, tries: second, data: data ?? undefined };
  }

  async settle({ id, token }: Taken, outcome: Outcome, now: number): Promise<void> {
    const keys = [...this.#keys("active", "stalled", id), `${this.prefix}${id}:lock`];
    switch (outcome.kind) {
      case "done":
        await this.#run("jobferryDone", ...keys, id, token);
        return;
      case "retry": {
        const due = Math.ceil(now + outcome.delayMs);
        await this.#run("jobferryRetry", ...keys, ...this.#keys("delayed", "marker"), id, token, due, outcome.reason);
        return;
      }
      case "quarantine": {
        const reason = `${outcome.code}: ${outcome.reason}`;
        const bounds = [QUARANTINE_KEPT, QUARANTINE_TEXT_BYTES, this.prefix];
        await this.#run("jobferryQuarantine", ...keys, ...this.#keys("failed"), id, token, now, reason, ...bounds);
        return;
      }
    }
  }

  /** Returns messages of receivers that died, some at a time; how many. */
  async sweep(): Promise<number> {
    const keys = this.#keys("active", "wait", "marker");
    return (await this.#run("jobferrySweep", ...keys, this.prefix, MAX_SWEPT)) as number;
  }

  async waiting(): Promise<number> {
    const [wait = "", prioritized = "", delayed = ""] = this.#keys("wait", "prioritized", "delayed");
    const counts = [this.#client.llen(wait), this.#client.zcard(prioritized), this.#client.zcard(delayed)];
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  #keys(...names: string[]): string[] {
    return names.map((name) => this.prefix + name);
  }

  #run(name: keyof typeof SCRIPTS, ...args: (string | number)[]): Promise<unknown> {
    const commands = this.#client as unknown as Record<string, Script>;
    const script = commands[name];
    if (script === undefined) throw new Error(`script ${name} is not defined on this connection`);
    return script.apply(this.#client, args);
  }
}
