import type { KubeObject } from "./api.ts";

export type Indexer<T> = (object: T) => string[];

/** The key under which `Store` keeps an object: `namespace/name`, or `name` when cluster-scoped. */
export const storeKey = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;

export const keyOf = (object: KubeObject): string => storeKey(object.metadata.namespace, object.metadata.name ?? "");

interface Entry<T> {
  object: T;
  /** Per indexer, the values this object is filed under. */
  filed: string[][];
}

/** Objects by key, and by the values the indexers give them. */
export class Store<T extends KubeObject> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexers: { name: string; valuesOf: Indexer<T>; files: Map<string, Set<Entry<T>>> }[];

  constructor(indexers: Record<string, Indexer<T>> = {}) {
    this.#indexers = Object.entries(indexers).map(([name, valuesOf]) => ({ name, valuesOf, files: new Map() }));
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.object;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  list(): T[] {
    return Array.from(this.#entries.values(), (entry) => entry.object);
  }

  byIndex(index: string, value: string): T[] {
    const indexer = this.#indexers.find(({ name }) => name === index);
    if (indexer === undefined) throw new Error(`no index ${index}: give it to the reflector as an indexer`);
    return Array.from(indexer.files.get(value) ?? [], (entry) => entry.object);
  }

  /** When an indexer throws, nothing has changed. */
  set(key: string, object: T): void {
    const filed = this.#indexers.map(({ valuesOf }) => valuesOf(object));
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const created = { object, filed };
      this.#entries.set(key, created);
      this.#file(created);
    } else if (sameValues(entry.filed, filed)) {
      entry.object = object;
    } else {
      this.#unfile(entry);
      entry.object = object;
      entry.filed = filed;
      this.#file(entry);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#unfile(entry);
    this.#entries.delete(key);
  }

  #file(entry: Entry<T>): void {
    for (const [i, { files }] of this.#indexers.entries())
      for (const value of entry.filed[i] ?? []) {
        const file = files.get(value);
        if (file === undefined) files.set(value, new Set([entry]));
        else file.add(entry);
      }
  }

  #unfile(entry: Entry<T>): void {
    for (const [i, { files }] of this.#indexers.entries())
      for (const value of entry.filed[i] ?? []) {
        const file = files.get(value);
        file?.delete(entry);
        if (file?.size === 0) files.delete(value);
      }
  }
}

const sameValues = (a: string[][], b: string[][]): boolean =>
  a.every((values, i) => values.length === b[i]?.length && values.every((value, j) => value === b[i]?.[j]));
