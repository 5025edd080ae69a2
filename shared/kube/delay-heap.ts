interface Entry {
  due: number;
  order: number;
  key: string;
}

const before = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/** Keys waiting for their time, each once, at the earliest time it was asked for; equal times in the order of asking. */
export class DelayHeap {
  readonly #heap: Entry[] = [];
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
    this.#push(entry);
    if (this.#heap.length > 2 * this.#byKey.size + 64) this.#compact();
  }

  clear(): void {
    this.#heap.length = 0;
    this.#byKey.clear();
  }

  nextDue(): number | undefined {
    return this.#heap[0]?.due;
  }

  /** Takes the first key whose time has come. */
  takeDue(now: number): string | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.due > now) return undefined;
    this.#pop();
    this.#byKey.delete(first.key);
    this.#dropReplaced();
    return first.key;
  }

  /** Keeps the top of the heap live: entries that were replaced leave when they surface. */
  #dropReplaced(): void {
    for (let top = this.#heap[0]; top !== undefined && this.#byKey.get(top.key) !== top; top = this.#heap[0])
      this.#pop();
  }

  /** Replaced entries may have far-off times: without this, a key that is often brought forward would pile them up. */
  #compact(): void {
    this.#heap.length = 0;
    for (const entry of this.#byKey.values()) this.#push(entry);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !before(entry, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const leftAt = 2 * at + 1;
      const left = heap[leftAt];
      if (left === undefined) break;
      const right = heap[leftAt + 1];
      const [childAt, child] = right !== undefined && before(right, left) ? [leftAt + 1, right] : [leftAt, left];
      if (!before(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}
