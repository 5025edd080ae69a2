import { MinHeap } from "./min-heap.ts";

interface Entry {
  due: number;
  order: number;
  key: string;
}

const before = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/** Keys waiting for their time, each once, at the earliest time it was asked for; equal times in the order of asking. */
export class DelayHeap {
  readonly #heap = new MinHeap<Entry>(before);
  readonly #byKey = new Map<string, Entry>();
  #order = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /** A later time than the one already waiting changes nothing. */
  add(key: string, due: number): void {
    const waiting = this.#byKey.get(key);
    if (waiting !== undefined && waiting.due <= due) return;
    const entry = { due, order: this.#order++, key };
    this.#byKey.set(key, entry);
    this.#heap.push(entry);
    if (this.#heap.size > 2 * this.#byKey.size + 64) this.#compact();
  }

  clear(): void {
    this.#heap.clear();
    this.#byKey.clear();
  }

  nextDue(): number | undefined {
    return this.#heap.peek()?.due;
  }

  /** Takes the first key whose time has come. */
  takeDue(now: number): string | undefined {
    const first = this.#heap.peek();
    if (first === undefined || first.due > now) return undefined;
    this.#heap.pop();
    this.#byKey.delete(first.key);
    this.#dropReplaced();
    return first.key;
  }

  /** Keeps the top of the heap live: entries that were replaced leave when they surface. */
  #dropReplaced(): void {
    for (let top = this.#heap.peek(); top !== undefined && this.#byKey.get(top.key) !== top; top = this.#heap.peek())
      this.#heap.pop();
  }

  /** Replaced entries may have far-off times: without this, a key that is often brought forward would pile them up. */
  #compact(): void {
    this.#heap.clear();
    for (const entry of this.#byKey.values()) this.#heap.push(entry);
  }
}
