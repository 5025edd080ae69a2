import type { KubeObject, WatchEvent } from "@jobferry/shared/kube/api.ts";
import type { Stored } from "./frozen.ts";

export type Matches = (object: Stored) => boolean;

/** One change of one object, kept for watchers that resume. The watch events are built once and shared by all watchers. */
export class Change {
  readonly revision: number;
  /** The state after the change; for a deletion the last state, carrying the revision of the deletion. */
  readonly object: Stored;
  readonly previous: Stored | undefined;
  readonly deleted: boolean;
  #added: WatchEvent<Stored> | undefined;
  #modified: WatchEvent<Stored> | undefined;
  #removed: WatchEvent<Stored> | undefined;

  constructor(revision: number, object: Stored, previous: Stored | undefined, deleted: boolean) {
    this.revision = revision;
    this.object = object;
    this.previous = previous;
    this.deleted = deleted;
  }

  /** What a watcher with this selection sees of the change: entering it is ADDED, leaving it DELETED. */
  seenThrough(matches: Matches | undefined): WatchEvent<Stored> | undefined {
    const before = this.previous !== undefined && (matches === undefined || matches(this.previous));
    const after = !this.deleted && (matches === undefined || matches(this.object));
    if (!after && !before) return undefined;
    if (!after) {
      this.#removed ??= { type: "DELETED", object: this.#lastSeen() };
      return this.#removed;
    }
    if (!before) {
      this.#added ??= { type: "ADDED", object: this.object };
      return this.#added;
    }
    this.#modified ??= { type: "MODIFIED", object: this.object };
    return this.#modified;
  }

  #lastSeen(): Stored {
    if (this.deleted || this.previous === undefined) return this.object;
    const metadata = Object.freeze({ ...this.previous.metadata, resourceVersion: String(this.revision) });
    return Object.freeze({ ...this.previous, metadata });
  }
}

/** The events one watch has yet to hand over. A consumer that falls too far behind is cut off, as the API server does. */
export class Watcher implements AsyncIterableIterator<WatchEvent<Stored>[]> {
  readonly matches: Matches | undefined;
  readonly wantsBookmarks: boolean;
  readonly #capacity: number;
  readonly #onClose: (() => void)[];
  #buffer: WatchEvent<Stored>[] = [];
  #closed = false;
  #failure: { reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: {
    matches: Matches | undefined;
    wantsBookmarks: boolean;
    capacity: number;
    onClose: () => void;
    initial?: WatchEvent<Stored>[];
  }) {
    this.matches = options.matches;
    this.wantsBookmarks = options.wantsBookmarks;
    this.#capacity = options.capacity;
    this.#onClose = [options.onClose];
    if (options.initial !== undefined) this.#buffer = options.initial;
  }

  get closed(): boolean {
    return this.#closed;
  }

  onClosed(callback: () => void): void {
    if (this.#closed) callback();
    else this.#onClose.push(callback);
  }

  offer(change: Change): void {
    const event = change.seenThrough(this.matches);
    if (event !== undefined) this.push(event);
  }

  push(event: WatchEvent<Stored>): void {
    if (this.#closed) return;
    if (this.#buffer.length >= this.#capacity) {
      this.#buffer = [];
      this.close();
      return;
    }
    this.#buffer.push(event);
    this.#signal();
  }

  /** Ends the stream after what is already buffered. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const callback of this.#onClose) callback();
    this.#signal();
  }

  /** Ends the stream at once; the consumer's next step rejects with `reason`. */
  abort(reason: unknown): void {
    this.#failure = { reason };
    this.#buffer = [];
    this.close();
  }

  async next(): Promise<IteratorResult<WatchEvent<Stored>[]>> {
    while (this.#buffer.length === 0) {
      if (this.#failure !== undefined) throw this.#failure.reason;
      if (this.#closed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const batch = this.#buffer;
    this.#buffer = [];
    return { done: false, value: batch };
  }

  async return(): Promise<IteratorResult<WatchEvent<Stored>[]>> {
    this.#buffer = [];
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #signal(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

export const bookmark = (type: { apiVersion: string; kind: string }, revision: number, initialEventsEnd = false) =>
  ({
    type: "BOOKMARK",
    object: {
      apiVersion: type.apiVersion,
      kind: type.kind,
      metadata: {
        resourceVersion: String(revision),
        ...(initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
      },
    },
  }) as WatchEvent<KubeObject & Stored>;
