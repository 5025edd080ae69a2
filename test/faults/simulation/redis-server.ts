/**
 * Redis with BullMQ's queues in it, as our scripts and BullMQ's see them: messages wait (by priority), are delayed, or are active
 * under a lock; a lock that ran out is found by the second sweep, and its message handed out again. Every command is atomic. A
 * failover goes back to what the new primary had: all commands of the last moments are undone together, none in their midst.
 */
import type { Outcome } from "@jobferry/shared/queue/attempt.ts";
import { type Address, addressName } from "@jobferry/shared/queue/bus.ts";
import type { Scheduler } from "./scheduler.ts";

interface Message {
  readonly id: string;
  readonly text: string;
  readonly priority: number;
  readonly tries: number;
}

/** Never changed, only replaced: that is what makes it easy to go back. */
interface Box {
  readonly wait: readonly Message[];
  readonly delayed: readonly { readonly dueAt: number; readonly message: Message }[];
  readonly active: ReadonlyMap<
    string,
    { readonly message: Message; readonly token: string; readonly lockedTo: number }
  >;
  readonly stalled: ReadonlySet<string>;
}

const EMPTY: Box = { wait: [], delayed: [], active: new Map(), stalled: new Set() };

export interface Taken {
  readonly id: string;
  readonly text: string;
  readonly tries: number;
}

/** Longer than any failover loses. */
const JOURNAL_MS = 10_000;

export class RedisServer {
  readonly #scheduler: Scheduler;
  #boxes = new Map<string, Box>();
  #journal: { readonly at: number; readonly name: string; readonly box: Box }[] = [];
  readonly #waiters = new Map<string, Set<() => void>>();
  #serial = 0;
  /** A replica by now: it answers, and refuses to write. */
  isReplica = false;
  /** Clusters whose keys are on a shard that nobody can reach. */
  readonly shardsAway = new Set<string>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  add(address: Address, text: string, priority: number): void {
    const name = addressName(address);
    const box = this.#box(name);
    const message = { id: `#${++this.#serial}`, text, priority, tries: 0 };
    this.#set(name, { ...box, wait: inserted(box.wait, message) });
    this.#ring(name);
  }

  /** The next message, or when the next delayed one is due (0: when one arrives). */
  take(address: Address, token: string, lockMs: number, now: number): Taken | { readonly dueAt: number } {
    const name = addressName(address);
    let box = this.#box(name);
    const due = box.delayed.filter(({ dueAt }) => dueAt <= now);
    if (due.length > 0) {
      const wait = due.reduce((list, { message }) => inserted(list, message, true), box.wait);
      box = { ...box, wait, delayed: box.delayed.filter(({ dueAt }) => dueAt > now) };
    }
    const [first, ...rest] = box.wait;
    if (first === undefined) {
      if (box !== this.#box(name)) this.#set(name, box);
      const dues = box.delayed.map(({ dueAt }) => dueAt);
      return { dueAt: dues.length === 0 ? 0 : Math.min(...dues) };
    }
    const message = { ...first, tries: first.tries + 1 };
    const lockedTo = this.#scheduler.elapsed + lockMs;
    this.#set(name, { ...box, wait: rest, active: new Map(box.active).set(first.id, { message, token, lockedTo }) });
    return { id: message.id, text: message.text, tries: message.tries };
  }

  /** Nothing happens when the message is somebody else's by now. */
  settle(address: Address, id: string, token: string, outcome: Outcome, now: number): void {
    const name = addressName(address);
    const box = this.#box(name);
    const held = box.active.get(id);
    if (held === undefined || held.token !== token || held.lockedTo <= this.#scheduler.elapsed) return;
    const active = new Map(box.active);
    active.delete(id);
    const stalled = new Set(box.stalled);
    stalled.delete(id);
    const next = { ...box, active, stalled };
    if (outcome.kind === "retry")
      this.#set(name, {
        ...next,
        delayed: [...box.delayed, { dueAt: Math.ceil(now + outcome.delayMs), message: held.message }],
      });
    else this.#set(name, next);
  }

  /** What was marked by the sweep before and is not locked any more waits again; what is active now is marked. */
  sweep(address: Address): void {
    const name = addressName(address);
    const box = this.#box(name);
    if (box.active.size === 0 && box.stalled.size === 0) return;
    const active = new Map(box.active);
    let { wait } = box;
    for (const id of box.stalled) {
      const held = active.get(id);
      if (held === undefined || held.lockedTo > this.#scheduler.elapsed) continue;
      active.delete(id);
      wait = inserted(wait, held.message, true);
    }
    this.#set(name, { ...box, wait, active, stalled: new Set(active.keys()) });
    if (wait.length > 0) this.#ring(name);
  }

  waiting(address: Address): number {
    const { wait, delayed } = this.#box(addressName(address));
    return wait.length + delayed.length;
  }

  /** Calls back when a message arrives; the returned function gives up. */
  listen(address: Address, callback: () => void): () => void {
    const name = addressName(address);
    const waiters = this.#waiters.get(name) ?? new Set();
    this.#waiters.set(name, waiters.add(callback));
    return () => waiters.delete(callback);
  }

  /** What a shard has forgotten that was started anew. */
  forget(cluster: string): void {
    for (const name of [...this.#boxes.keys()]) if (name.startsWith(`${cluster}/`)) this.#set(name, EMPTY);
  }

  flush(): void {
    this.#boxes = new Map();
    this.#journal = [];
  }

  /** Another server takes over, and what the old one did in the last `lossMs` it never heard of. */
  failOver(lossMs: number): number {
    let undone = 0;
    for (let last = this.#journal.at(-1); last !== undefined; last = this.#journal.at(-1)) {
      if (last.at <= this.#scheduler.elapsed - lossMs) break;
      this.#boxes.set(last.name, last.box);
      this.#journal.pop();
      undone++;
    }
    return undone;
  }

  #box(name: string): Box {
    return this.#boxes.get(name) ?? EMPTY;
  }

  #set(name: string, box: Box): void {
    const now = this.#scheduler.elapsed;
    this.#journal.push({ at: now, name, box: this.#box(name) });
    if (this.#journal.length > 1_000) this.#journal = this.#journal.filter(({ at }) => at > now - JOURNAL_MS);
    this.#boxes.set(name, box);
  }

  #ring(name: string): void {
    const waiters = [...(this.#waiters.get(name) ?? [])];
    this.#waiters.delete(name);
    for (const waiter of waiters) waiter();
  }
}

/** Behind its equals, or in front of them when it comes back. */
function inserted(wait: readonly Message[], message: Message, inFront = false): Message[] {
  const at = wait.findIndex(
    ({ priority }) => priority > message.priority || (inFront && priority === message.priority),
  );
  return at < 0 ? [...wait, message] : wait.toSpliced(at, 0, message);
}
