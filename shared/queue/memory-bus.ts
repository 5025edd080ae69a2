import type { Clock } from "../runtime/clock.ts";
import { attempt, type Outcome } from "./attempt.ts";
import {
  type Address,
  addressName,
  BOX_BOUNDS,
  type BoxBounds,
  type Bus,
  type ConsumeOptions,
  DEFAULT_CONSUME,
  type MessageHandler,
  QUARANTINE_KEPT,
  type Quarantined,
  type SendOptions,
  type Subscription,
} from "./bus.ts";
import { TransportError } from "./errors.ts";

interface Message {
  readonly text: string;
  readonly priority: number;
  tries: number;
}

interface Box {
  readonly waiting: Message[];
  delayed: number;
  bytes: number;
  readonly consumers: Set<() => void>;
}

/** When each copy of a message arrives, in ms from now: `[0]` is normal, `[]` loses it, `[0, 50]` doubles it. */
export type Fate = (address: Address, text: string) => readonly number[];

export interface MemoryBusOptions {
  readonly clock: Clock;
  readonly fate?: Fate;
  readonly bounds?: BoxBounds;
  readonly onQuarantine?: (message: Quarantined) => void;
}

/** Both ends in one process, waiting on nothing but promises and the clock: for simulation, with faults on demand. */
export class MemoryBus implements Bus {
  fate: Fate;
  readonly quarantine: Quarantined[] = [];
  readonly #clock: Clock;
  readonly #options: MemoryBusOptions;
  readonly #boxes = new Map<string, Box>();
  readonly #listeners = new Set<(reachable: boolean) => void>();
  readonly #subscriptions = new Set<Subscription>();
  #reachable = true;
  #closed = false;
  /** Grows with each flush: what was under way before is lost with it. */
  #life = 0;

  constructor(options: MemoryBusOptions) {
    this.#clock = options.clock;
    this.#options = options;
    this.fate = options.fate ?? (() => [0]);
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  onReachable(listener: (reachable: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** An outage: sending fails and nothing is handed out, but what waits is kept. */
  setReachable(reachable: boolean): void {
    if (this.#reachable === reachable) return;
    this.#reachable = reachable;
    for (const listener of this.#listeners) listener(reachable);
    if (reachable) for (const box of this.#boxes.values()) wake(box);
  }

  /** As FLUSHALL. */
  flush(): void {
    this.#life++;
    for (const box of this.#boxes.values()) {
      box.waiting.length = 0;
      box.delayed = 0;
      box.bytes = 0;
    }
  }

  async send(address: Address, text: string, options: SendOptions = {}): Promise<void> {
    if (this.#closed) throw new TransportError("transport/closed");
    if (!this.#reachable) throw new TransportError("transport/unreachable");
    const box = this.#box(address);
    const { messages, bytes } = this.#options.bounds ?? BOX_BOUNDS;
    if (box.waiting.length + box.delayed >= messages || box.bytes + text.length > bytes)
      throw new TransportError("transport/full", addressName(address));
    for (const delayMs of this.fate(address, text)) {
      const { priority = 0 } = options;
      box.bytes += text.length;
      this.#put(box, { text, priority, tries: 0 }, delayMs);
    }
  }

  consume(address: Address, handler: MessageHandler, partial: Partial<ConsumeOptions> = {}): Subscription {
    const options = { ...DEFAULT_CONSUME, ...partial };
    const box = this.#box(address);
    const running = new Map<Message, Promise<void>>();
    const pull = (): void => {
      while (box.consumers.has(pull) && this.#reachable && running.size < options.concurrency) {
        const message = box.waiting.shift();
        if (message === undefined) return;
        running.set(message, work(message));
      }
    };
    const work = async (message: Message): Promise<void> => {
      const life = this.#life;
      // The sender's stack ends first, as it would with Redis in between.
      await Promise.resolve();
      const outcome = await attempt(handler, message.text, ++message.tries, options, this.#clock);
      // Abandoned meanwhile: somebody else has the message now.
      if (!running.delete(message)) return;
      if (life === this.#life) this.#settle(address, box, message, outcome);
      pull();
    };
    box.consumers.add(pull);
    pull();
    const isReachable = (): boolean => this.#reachable;
    const subscription: Subscription = {
      get reachable() {
        return isReachable();
      },
      stop: async (deadlineMs) => {
        box.consumers.delete(pull);
        this.#subscriptions.delete(subscription);
        let cancel = (): void => {};
        const late = new Promise<void>((resolve) => {
          cancel = this.#clock.after(deadlineMs, resolve);
        });
        await Promise.race([Promise.all(running.values()), late]);
        cancel();
        const abandoned = [...running.keys()];
        running.clear();
        for (const message of abandoned) this.#put(box, message, 0);
        return { abandoned: abandoned.length };
      },
    };
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async waiting(address: Address): Promise<number> {
    const box = this.#box(address);
    return box.waiting.length + box.delayed;
  }

  async bytes(address: Address): Promise<number> {
    return this.#box(address).bytes;
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop(deadlineMs)));
  }

  #settle(address: Address, box: Box, message: Message, outcome: Outcome): void {
    if (outcome.kind === "retry") this.#put(box, message, outcome.delayMs);
    else box.bytes -= message.text.length;
    if (outcome.kind !== "quarantine") return;
    const quarantined = { address, reason: outcome.reason, code: outcome.code };
    if (this.quarantine.push(quarantined) > QUARANTINE_KEPT) this.quarantine.shift();
    this.#options.onQuarantine?.(quarantined);
  }

  #put(box: Box, message: Message, delayMs: number): void {
    if (delayMs <= 0) {
      this.#insert(box, message);
      return;
    }
    const life = this.#life;
    box.delayed++;
    this.#clock.after(delayMs, () => {
      if (life !== this.#life) return;
      box.delayed--;
      this.#insert(box, message);
    });
  }

  #insert(box: Box, message: Message): void {
    const last = box.waiting.at(-1);
    const after = last === undefined || last.priority <= message.priority;
    const position = after ? -1 : box.waiting.findIndex((other) => other.priority > message.priority);
    if (position < 0) box.waiting.push(message);
    else box.waiting.splice(position, 0, message);
    wake(box);
  }

  #box(address: Address): Box {
    const name = addressName(address);
    const known = this.#boxes.get(name);
    if (known !== undefined) return known;
    const box: Box = { waiting: [], delayed: 0, bytes: 0, consumers: new Set() };
    this.#boxes.set(name, box);
    return box;
  }
}

function wake(box: Box): void {
  for (const pull of box.consumers) pull();
}
