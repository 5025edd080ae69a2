/** The smallest first, by `before`; adding and taking cost the logarithm of the size. */
export class MinHeap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt] as T;
      if (!this.#before(item, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0) this.#sink(last as T);
    return first;
  }

  clear(): void {
    this.#items.length = 0;
  }

  /** Puts `item` in the place of the first and lets it find its own. */
  #sink(item: T): void {
    const items = this.#items;
    let at = 0;
    for (let childAt = 1; childAt < items.length; childAt = 2 * at + 1) {
      if (childAt + 1 < items.length && this.#before(items[childAt + 1] as T, items[childAt] as T)) childAt++;
      if (!this.#before(items[childAt] as T, item)) break;
      items[at] = items[childAt] as T;
      at = childAt;
    }
    items[at] = item;
  }
}
