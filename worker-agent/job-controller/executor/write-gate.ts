/**
 * Every write passes here: at most `inFlight` at a time and `perSecond` on average. Those that wait are let through by
 * class, pod creation first and status last, because pods that do not run yet are what users wait for. Status writes cannot
 * starve: each of the bounded number of syncs creates a bounded number of pods and then waits for its own status write.
 */

import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { TokenBucket } from "@jobferry/shared/runtime/token-bucket.ts";

const WRITE_CLASSES = ["create", "pod", "status"] as const;
export type WriteClass = (typeof WRITE_CLASSES)[number];

export class ShuttingDown extends Error {
  constructor() {
    super("the controller is shutting down; its successor continues from the stored state");
    this.name = "ShuttingDown";
  }
}

interface Waiting {
  start(): void;
  refuse(): void;
}

export interface WriteGateOptions {
  clock: Clock;
  inFlight: number;
  /** Absent: not limited. */
  rate?: { perSecond: number; burst: number };
}

export class WriteGate {
  readonly #options: WriteGateOptions;
  readonly #bucket: TokenBucket | undefined;
  readonly #waiting: Record<WriteClass, Waiting[]> = { create: [], pod: [], status: [] };
  #running = 0;
  #closed = false;
  #cancelTimer: (() => void) | undefined;

  constructor(options: WriteGateOptions) {
    this.#options = options;
    this.#bucket = options.rate && new TokenBucket(options.clock, options.rate);
  }

  async run<T>(kind: WriteClass, write: () => Promise<T>): Promise<T> {
    await this.#enter(kind);
    try {
      return await write();
    } finally {
      this.#running--;
      this.#next();
    }
  }

  /** Refuses what waits and what comes; writes under way finish. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    for (const kind of WRITE_CLASSES) for (const waiting of this.#waiting[kind].splice(0)) waiting.refuse();
  }

  #enter(kind: WriteClass): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new ShuttingDown());
      this.#waiting[kind].push({ start: resolve, refuse: () => reject(new ShuttingDown()) });
      this.#next();
    });
  }

  #next(): void {
    while (this.#running < this.#options.inFlight) {
      const kind = WRITE_CLASSES.find((candidate) => this.#waiting[candidate].length > 0);
      if (kind === undefined || this.#cancelTimer !== undefined) return;
      if (this.#bucket?.tryTake() === false) {
        this.#waitForToken();
        return;
      }
      this.#running++;
      this.#waiting[kind].shift()?.start();
    }
  }

  #waitForToken(): void {
    const intervalMs = 1000 / (this.#options.rate?.perSecond ?? 1);
    this.#cancelTimer = this.#options.clock.after(intervalMs, () => {
      this.#cancelTimer = undefined;
      this.#next();
    });
  }
}
