import type { WatchEvent } from "@jobferry/shared/kube/api.ts";
import { frozenCopy, type Stored } from "./frozen.ts";
import { Change, type Matches, Watcher } from "./watcher.ts";

/** Lists are in the order of these keys, which is etcd's: "a-b/x" comes before "a/x". */
export const keyOf = (object: Stored): string => `${object.metadata.namespace ?? ""}/${object.metadata.name}`;

/** The objects of one resource, their recent history and their watchers. Cluster-scoped objects live in namespace "". */
export class Table {
  readonly apiVersion: string;
  readonly kind: string;
  readonly #limits: StoreLimits;
  readonly #namespaces = new Map<string, Shelf>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  #history: Change[] = [];
  #compactedAt: number;
  #size = 0;

  constructor(type: { apiVersion: string; kind: string }, compactedAt: number, limits: StoreLimits) {
    this.apiVersion = type.apiVersion;
    this.kind = type.kind;
    this.#compactedAt = compactedAt;
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  sizeOf(namespace: string): number {
    return this.#namespaces.get(namespace)?.objects.size ?? 0;
  }

  /** Changes up to and including this revision can no longer be replayed. */
  get compactedAt(): number {
    return this.#compactedAt;
  }

  get(namespace: string, name: string): Stored | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name);
  }

  /** All objects of one namespace, or of all, in the order of their keys. */
  sorted(namespace?: string): Stored[] {
    if (namespace !== undefined) return this.#namespaces.get(namespace)?.sorted().slice() ?? [];
    const all: Stored[] = [];
    const prefixes = [...this.#namespaces.keys()].map((namespace) => `${namespace}/`).sort();
    for (const prefix of prefixes)
      for (const object of this.#namespaces.get(prefix.slice(0, -1))?.sorted() ?? []) all.push(object);
    return all;
  }

  *values(): IterableIterator<Stored> {
    for (const shelf of this.#namespaces.values()) yield* shelf.objects.values();
  }

  /** The objects as they were at `revision`, which must not be compacted. */
  sortedAt(revision: number, namespace?: string): Stored[] {
    const state = new Map<string, Stored>();
    for (const object of this.sorted(namespace)) state.set(keyOf(object), object);
    for (let i = this.#history.length - 1; i >= 0; i--) {
      const change = this.#history[i];
      if (change === undefined || change.revision <= revision) break;
      if (namespace !== undefined && change.object.metadata.namespace !== namespace) continue;
      if (change.previous === undefined) state.delete(keyOf(change.object));
      else state.set(keyOf(change.object), change.previous);
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  put(object: Stored, revision: number): void {
    const namespace = object.metadata.namespace ?? "";
    let shelf = this.#namespaces.get(namespace);
    if (shelf === undefined) {
      shelf = new Shelf();
      this.#namespaces.set(namespace, shelf);
    }
    const previous = shelf.put(object);
    if (previous === undefined) this.#size++;
    this.#record(new Change(revision, object, previous, false));
  }

  /** Removes the object and returns it as its last watch event shows it. */
  remove(object: Stored, revision: number): Stored {
    const namespace = object.metadata.namespace ?? "";
    const shelf = this.#namespaces.get(namespace);
    shelf?.remove(object.metadata.name);
    if (shelf?.objects.size === 0) this.#namespaces.delete(namespace);
    this.#size--;
    const last: Stored = frozenCopy({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(revision) },
    });
    this.#record(new Change(revision, last, object, true));
    return last;
  }

  /** A watcher that first replays what happened after `revision`, or `initial` when given. */
  watch(options: {
    revision: number;
    namespace?: string | undefined;
    matches: Matches | undefined;
    wantsBookmarks: boolean;
    initial?: WatchEvent<Stored>[];
  }): Watcher {
    const scope = options.namespace ?? "*";
    const watcher = new Watcher({
      matches: options.matches,
      wantsBookmarks: options.wantsBookmarks,
      capacity: this.#limits.watchBuffer,
      onClose: () => this.#forget(scope, watcher),
      initial: options.initial ?? this.#replay(options),
    });
    const set = this.#watchers.get(scope) ?? new Set();
    set.add(watcher);
    this.#watchers.set(scope, set);
    return watcher;
  }

  *watchers(): IterableIterator<Watcher> {
    for (const set of this.#watchers.values()) yield* set;
  }

  /** The objects are these and nothing is known of the past, as after a restore of etcd. */
  reset(objects: readonly Stored[], compactedAt: number): void {
    this.#namespaces.clear();
    this.#size = 0;
    for (const object of objects) {
      const namespace = object.metadata.namespace ?? "";
      const shelf = this.#namespaces.get(namespace) ?? new Shelf();
      this.#namespaces.set(namespace, shelf);
      shelf.put(object);
      this.#size++;
    }
    this.compact(compactedAt);
  }

  compact(revision: number): void {
    this.#history = [];
    this.#compactedAt = revision;
  }

  #replay(options: {
    revision: number;
    namespace?: string | undefined;
    matches: Matches | undefined;
  }): WatchEvent<Stored>[] {
    const events: WatchEvent<Stored>[] = [];
    for (let i = this.#firstAfter(options.revision); i < this.#history.length; i++) {
      const change = this.#history[i];
      if (change === undefined) continue;
      if (options.namespace !== undefined && change.object.metadata.namespace !== options.namespace) continue;
      const event = change.seenThrough(options.matches);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#history[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #record(change: Change): void {
    this.#history.push(change);
    // Trimmed in lumps: shifting an array on every write would cost more than the spare quarter of memory.
    if (this.#history.length > this.#limits.history * 1.25) {
      const dropped = this.#history.splice(0, this.#history.length - this.#limits.history);
      this.#compactedAt = dropped.at(-1)?.revision ?? this.#compactedAt;
    }
    for (const watcher of this.#watchers.get("*") ?? []) watcher.offer(change);
    const namespace = change.object.metadata.namespace;
    if (namespace !== undefined) for (const watcher of this.#watchers.get(namespace) ?? []) watcher.offer(change);
  }

  #forget(scope: string, watcher: Watcher): void {
    const set = this.#watchers.get(scope);
    set?.delete(watcher);
    if (set?.size === 0) this.#watchers.delete(scope);
  }
}

export interface StoreLimits {
  /** Changes kept per resource for watchers that resume. */
  history: number;
  /** Events a watcher may leave unread before it is cut off. */
  watchBuffer: number;
}

/** The objects of one namespace; sorting happens when a list asks for it. */
class Shelf {
  readonly objects = new Map<string, Stored>();
  #names: string[] | undefined;

  put(object: Stored): Stored | undefined {
    const previous = this.objects.get(object.metadata.name);
    if (previous === undefined) this.#names = undefined;
    this.objects.set(object.metadata.name, object);
    return previous;
  }

  remove(name: string): void {
    this.objects.delete(name);
    this.#names = undefined;
  }

  sorted(): Stored[] {
    this.#names ??= [...this.objects.keys()].sort();
    const result: Stored[] = [];
    for (const name of this.#names) {
      const object = this.objects.get(name);
      if (object !== undefined) result.push(object);
    }
    return result;
  }
}
