import type { Stored } from "./frozen.ts";
import { type StoreLimits, Table } from "./table.ts";
import { bookmark } from "./watcher.ts";

export interface TypeKey {
  readonly group: string;
  readonly plural: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** A stored object and the table it is in. */
export interface Located {
  readonly table: Table;
  readonly object: Stored;
}

/** Called at every change, with the state before it. */
export type ChangeListener = (located: Located, previous: Stored | undefined, deleted: boolean) => void;

const DEFAULT_LIMITS: StoreLimits = { history: 20_000, watchBuffer: 50_000 };

/** All objects of a cluster under one growing revision, with an index from owners to their dependents. */
export class Store {
  readonly #tables = new Map<string, Table>();
  readonly #limits: StoreLimits;
  readonly #dependents = new Map<string, Map<string, Located>>();
  readonly #byUid = new Map<string, Located>();
  readonly #listeners = new Set<ChangeListener>();
  #revision = 1;
  #compactedAt = 0;

  constructor(limits: Partial<StoreLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  get revision(): number {
    return this.#revision;
  }

  table(type: TypeKey): Table {
    const key = `${type.group}/${type.plural}`;
    let table = this.#tables.get(key);
    if (table === undefined) {
      table = new Table(type, this.#compactedAt, this.#limits);
      this.#tables.set(key, table);
    }
    return table;
  }

  tables(): IterableIterator<Table> {
    return this.#tables.values();
  }

  dropTable(type: TypeKey): void {
    const key = `${type.group}/${type.plural}`;
    const table = this.#tables.get(key);
    if (table === undefined) return;
    for (const watcher of [...table.watchers()]) watcher.close();
    this.#tables.delete(key);
  }

  /** Stores a frozen object built for the next revision (see `nextRevision`). */
  put(table: Table, object: Stored): void {
    const revision = ++this.#revision;
    if (object.metadata.resourceVersion !== String(revision))
      throw new Error(`object built for revision ${object.metadata.resourceVersion} stored at ${revision}`);
    const previous = this.#byUid.get(object.metadata.uid)?.object;
    const located = { table, object };
    this.#byUid.set(object.metadata.uid, located);
    this.#indexOwners(previous, located);
    table.put(object, revision);
    for (const listener of this.#listeners) listener(located, previous, false);
  }

  /** Returns the object as its last watch event shows it. */
  remove(table: Table, object: Stored): Stored {
    const revision = ++this.#revision;
    this.#byUid.delete(object.metadata.uid);
    for (const owner of object.metadata.ownerReferences ?? []) this.#unlink(owner.uid, object.metadata.uid);
    const last = table.remove(object, revision);
    for (const listener of this.#listeners) listener({ table, object: last }, object, true);
    return last;
  }

  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The resourceVersion the next `put` will have. */
  nextRevision(): string {
    return String(this.#revision + 1);
  }

  byUid(uid: string): Located | undefined {
    return this.#byUid.get(uid);
  }

  dependentsOf(ownerUid: string): Located[] {
    return [...(this.#dependents.get(ownerUid)?.values() ?? [])];
  }

  hasDependents(ownerUid: string): boolean {
    return this.#dependents.has(ownerUid);
  }

  someDependent(ownerUid: string, test: (dependent: Stored) => boolean): boolean {
    for (const { object } of this.#dependents.get(ownerUid)?.values() ?? []) if (test(object)) return true;
    return false;
  }

  /** Forgets all history: a watch or a continue token from before is answered with 410. */
  compact(): void {
    this.#compactedAt = this.#revision;
    for (const table of this.#tables.values()) table.compact(this.#revision);
  }

  /**
   * Everything as it was at `revision`, which must not be compacted: etcd restored from a backup. `bump`: how far the revision is
   * moved on, as `etcdutl snapshot restore --bump-revision --mark-compacted` does.
   */
  restore(revision: number, bump: number): void {
    this.closeWatches();
    this.#byUid.clear();
    this.#dependents.clear();
    this.#revision = revision + bump;
    this.#compactedAt = this.#revision;
    for (const table of this.#tables.values()) {
      const objects = table.sortedAt(revision);
      table.reset(objects, this.#revision);
      for (const object of objects) {
        const located = { table, object };
        this.#byUid.set(object.metadata.uid, located);
        this.#indexOwners(undefined, located);
      }
    }
  }

  closeWatches(): void {
    for (const table of this.#tables.values()) for (const watcher of [...table.watchers()]) watcher.close();
  }

  /** False when nobody wants bookmarks any more. */
  sendBookmarks(): boolean {
    let wanted = false;
    for (const table of this.#tables.values()) {
      for (const watcher of [...table.watchers()]) {
        if (!watcher.wantsBookmarks) continue;
        wanted = true;
        watcher.push(bookmark(table, this.#revision));
      }
    }
    return wanted;
  }

  #indexOwners(previous: Stored | undefined, located: Located): void {
    const uid = located.object.metadata.uid;
    const owners = located.object.metadata.ownerReferences;
    if (previous !== undefined && previous.metadata.ownerReferences !== owners)
      for (const owner of previous.metadata.ownerReferences ?? []) this.#unlink(owner.uid, uid);
    for (const owner of owners ?? []) {
      const set = this.#dependents.get(owner.uid) ?? new Map<string, Located>();
      set.set(uid, located);
      this.#dependents.set(owner.uid, set);
    }
  }

  #unlink(ownerUid: string, uid: string): void {
    const set = this.#dependents.get(ownerUid);
    set?.delete(uid);
    if (set?.size === 0) this.#dependents.delete(ownerUid);
  }
}
