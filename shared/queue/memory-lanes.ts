import type { LaneAddress, Lanes } from "./lanes.ts";

type Listener = (piece: Buffer) => void;

/** Both ends in one process. */
export class MemoryLanes implements Lanes {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #waiting = new Map<string, Buffer[]>();
  readonly #onLost = new Set<() => void>();

  async push(address: LaneAddress, piece: Buffer): Promise<void> {
    // The sender's stack ends first, as it would with Redis in between.
    await Promise.resolve();
    const name = nameOf(address);
    const [listener] = this.#listeners.get(name) ?? [];
    if (listener !== undefined) listener(piece);
    else this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), piece]);
  }

  listen(address: LaneAddress, onPiece: Listener): { stop(): Promise<void> } {
    const name = nameOf(address);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(onPiece));
    for (const piece of this.#waiting.get(name) ?? []) onPiece(piece);
    this.#waiting.delete(name);
    return {
      stop: async () => {
        listeners.delete(onPiece);
      },
    };
  }

  onLost(listener: () => void): () => void {
    this.#onLost.add(listener);
    return () => void this.#onLost.delete(listener);
  }

  /** As a restart of Redis. */
  lose(): void {
    this.#waiting.clear();
    for (const listener of this.#onLost) listener();
  }
}

const nameOf = ({ cluster, lane }: LaneAddress): string => `${cluster}/${lane}`;
