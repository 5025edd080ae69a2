import { MAX_ENVELOPE_CHARS } from "../protocol/limits.ts";
import type { Outcome } from "./attempt.ts";
import { type BoxBounds, QUARANTINE_KEPT, QUARANTINE_TEXT_BYTES } from "./bus.ts";
import type { Scripts } from "./script-runner.ts";

/** The largest envelope as JSON: in quotation marks, with its one line break escaped. */
const MAX_TEXT_BYTES = MAX_ENVELOPE_CHARS + 3;

export interface Taken {
  readonly id: string;
  readonly token: string;
  readonly tries: number;
  /** As BullMQ stored it; absent when it is too large to be read. */
  readonly data: string | undefined;
}

/** The keys of one queue in BullMQ's layout, and the scripts that put messages into it and take them out. */
export class Box {
  /** Everything of this queue begins so. */
  readonly prefix: string;
  readonly #scripts: Scripts;

  constructor(scripts: Scripts, prefix: string, queue: string) {
    this.#scripts = scripts;
    this.prefix = `${prefix}:${queue}:`;
  }

  /** False: the box is full. */
  async push(text: string, priority: number, now: number, { messages, bytes }: BoxBounds): Promise<boolean> {
    const keys = this.#keys("wait", "prioritized", "delayed", "active", "marker", "id", "bytes");
    const answer = await this.#scripts.run("push", keys, [
      ...[this.prefix, JSON.stringify(text), priority, Math.floor(now), messages, bytes],
    ]);
    return answer === 1;
  }

  /** The next message, or when to look again (0: when one arrives). */
  async take(token: string, lockMs: number, now: number): Promise<Taken | { readonly dueAt: number }> {
    const keys = this.#keys("wait", "active", "prioritized", "delayed", "marker");
    const answer = await this.#scripts.run("take", keys, [this.prefix, token, lockMs, now, MAX_TEXT_BYTES]);
    const [id, second, data] = answer as [string | null, number, string | null];
    if (id === null) return { dueAt: second };
    return { id, token, tries: second, data: data ?? undefined };
  }

  async settle({ id, token }: Taken, outcome: Outcome, now: number): Promise<void> {
    const keys = [...this.#keys("active", "stalled", id), `${this.prefix}${id}:lock`];
    switch (outcome.kind) {
      case "done":
        await this.#scripts.run("done", [...keys, ...this.#keys("bytes")], [id, token]);
        return;
      case "retry": {
        const due = Math.ceil(now + outcome.delayMs);
        await this.#scripts.run(
          "retry",
          [...keys, ...this.#keys("delayed", "marker")],
          [id, token, due, outcome.reason],
        );
        return;
      }
      case "quarantine": {
        const reason = `${outcome.code}: ${outcome.reason}`;
        const bounds = [QUARANTINE_KEPT, QUARANTINE_TEXT_BYTES, this.prefix];
        const all = [...keys, ...this.#keys("failed", "bytes")];
        await this.#scripts.run("quarantine", all, [id, token, now, reason, ...bounds]);
        return;
      }
    }
  }

  /** Returns messages of receivers that died, some at a time; how many. */
  async sweep(): Promise<number> {
    const keys = this.#keys("active", "wait", "marker");
    return (await this.#scripts.run("sweep", keys, [this.prefix])) as number;
  }

  async waiting(): Promise<number> {
    const { client } = this.#scripts;
    const [wait = "", prioritized = "", delayed = ""] = this.#keys("wait", "prioritized", "delayed");
    const counts = [client.llen(wait), client.zcard(prioritized), client.zcard(delayed)];
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Of the messages that wait or are in hand, as far as it was counted. */
  async bytes(): Promise<number> {
    const [bytes = ""] = this.#keys("bytes");
    return Math.max(0, Number(await this.#scripts.client.get(bytes)) || 0);
  }

  #keys(...names: string[]): string[] {
    return names.map((name) => this.prefix + name);
  }
}
