import { Backoff } from "../runtime/backoff.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { IdleTimer } from "../runtime/idle-timer.ts";
import { type Logger, silentLogger } from "../runtime/logger.ts";
import { type Random, realRandom } from "../runtime/random.ts";
import type { KubeApi, KubeObject, Resource, WatchEvent } from "./api.ts";
import { ApiError, isGone } from "./errors.ts";
import { type Indexer, keyOf, Store, storeKey } from "./store.ts";

export interface ReflectorHandler<T> {
  added?(object: T): void;
  updated?(before: T, after: T): void;
  /** When the deletion itself was missed, `last` is the newest state we had seen. */
  deleted?(last: T): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  api: KubeApi;
  resource: Resource<T>;
  clock: Clock;
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  indexers?: Record<string, Indexer<T>>;
  /** What to keep of an object; must keep its name, namespace, UID and resourceVersion. */
  transform?: (object: T) => T;
  logger?: Logger;
  pageSize?: number;
  backoff?: { baseMs: number; maxMs: number };
  /** A watch lasts between this and twice this, so that watchers do not all come back at once. */
  watchSeconds?: number;
  /** A watch silent for this long counts as dead, once the server has shown that it sends bookmarks (about one a minute). */
  watchIdleMs?: number;
  random?: Random;
}

/** Smaller pages cost more calls, larger ones block the event loop for longer while they are parsed. */
const PAGE_SIZE = 500;

/** A watch that ends sooner than this without a single event is a failing one: some servers accept and close at once. */
const SHORT_WATCH_MS = 1000;

/**
 * Keeps a local copy of a resource: lists it page by page, then watches; a cut watch resumes at the last resourceVersion
 * seen, an expired one (410) leads to a new list. Server trouble never ends it: it backs off and goes on until stopped.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #logger: Logger;
  readonly #store: Store<T>;
  readonly #handlers: ReflectorHandler<T>[] = [];
  readonly #backoff: Backoff;
  readonly #random: Random;
  readonly #synced = Promise.withResolvers<void>();
  #hasSynced = false;
  #started = false;
  #resourceVersion = "";
  #seesBookmarks = false;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#random = options.random ?? realRandom;
    this.#logger = (options.logger ?? silentLogger).child({ resource: options.resource.plural });
    this.#store = new Store(options.indexers);
    this.#backoff = new Backoff({ ...(options.backoff ?? { baseMs: 200, maxMs: 30_000 }), random: this.#random });
  }

  /** A handler added late hears of everything already known as `added`. Handlers must be quick; what they throw is logged. */
  addHandler(handler: ReflectorHandler<T>): void {
    this.#handlers.push(handler);
    for (const object of this.#store.list()) this.#call(handler, "added", object, (h) => h.added?.(object));
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves after the first complete list; never rejects, so race it with your own signal. */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  /** The last one seen, bookmarks included; empty before the first complete list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  get size(): number {
    return this.#store.size;
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#store.get(storeKey(namespace, name));
  }

  list(): T[] {
    return this.#store.list();
  }

  byIndex(index: string, value: string): T[] {
    return this.#store.byIndex(index, value);
  }

  /** Resolves when `signal` aborts; rejects for nothing else. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error("a reflector can be started once");
    this.#started = true;
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === "") await this.#relist(signal);
        if (!signal.aborted) await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (isGone(error)) this.#resourceVersion = "";
    const waitMs = this.#backoff.next(error instanceof ApiError ? error.retryAfterMs : 0);
    this.#logger.warn(
      { error, waitMs: Math.round(waitMs), relist: this.#resourceVersion === "" },
      "lost the server, will retry",
    );
    await sleep(this.#options.clock, waitMs, signal).catch(() => {});
  }

  get #selection(): { namespace?: string; labelSelector?: string; fieldSelector?: string } {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }

  /**
   * Pages are applied as they come: all of one list show the same moment, and holding them back would only turn a large
   * list into one long pause. An unset resourceVersion asks for the newest state, so the copy never goes back in time.
   */
  async #relist(signal: AbortSignal): Promise<void> {
    const { api, resource, pageSize } = this.#options;
    const seen = new Set<string>();
    let resourceVersion: string;
    let token: string | undefined;
    do {
      const page = await api.list(resource, {
        ...this.#selection,
        limit: pageSize ?? PAGE_SIZE,
        ...(token === undefined ? {} : { continue: token }),
        signal,
      });
      if (signal.aborted) return;
      for (const object of page.items) {
        seen.add(keyOf(object));
        this.#upsert(object, true);
      }
      resourceVersion = page.metadata.resourceVersion;
      token = page.metadata.continue;
    } while (token !== undefined && token !== "");
    for (const key of [...this.#store.keys()]) if (!seen.has(key)) this.#remove(key, undefined);
    this.#resourceVersion = resourceVersion;
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { api, resource, clock, watchSeconds = 300 } = this.#options;
    const began = clock.monotonic();
    const attempt = new AbortController();
    const stop = (): void => attempt.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const idle = new IdleTimer(clock, this.#options.watchIdleMs ?? 150_000, () =>
      attempt.abort(new Error("watch went silent")),
    );
    let quiet = true;
    try {
      const batches = api.watch(resource, {
        ...this.#selection,
        resourceVersion: this.#resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds: Math.round(watchSeconds * (1 + this.#random())),
        signal: attempt.signal,
      });
      if (this.#seesBookmarks) idle.restart();
      for await (const batch of batches) {
        if (attempt.signal.aborted) break;
        for (const event of batch) this.#apply(event);
        if (batch.some(({ type }) => type !== "BOOKMARK")) quiet = false;
        if (!quiet) this.#backoff.reset();
        if (this.#seesBookmarks) idle.restart();
      }
    } catch (error) {
      // Our own idle timer is not worth a report: the next watch resumes where this one stopped.
      if (!attempt.signal.aborted || signal.aborted) throw error;
      this.#logger.info({ resourceVersion: this.#resourceVersion }, "watch went silent, opening another");
    } finally {
      idle.cancel();
      signal.removeEventListener("abort", stop);
    }
    if (signal.aborted) return;
    if (clock.monotonic() - began >= SHORT_WATCH_MS) this.#backoff.reset();
    else if (quiet) throw new ApiError(0, "ConnectionFailed", "the server closed the watch at once");
  }

  #apply(event: WatchEvent<T>): void {
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        this.#upsert(event.object, false);
        break;
      case "DELETED":
        this.#remove(keyOf(event.object), event.object);
        break;
      case "BOOKMARK":
        this.#seesBookmarks = true;
        break;
      case "ERROR":
        throw ApiError.fromStatus(event.object);
      default:
        return;
    }
    const { resourceVersion } = event.object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== "") this.#resourceVersion = resourceVersion;
  }

  #upsert(object: T, fromList: boolean): void {
    const key = keyOf(object);
    if (this.#store.get(key)?.metadata.uid !== object.metadata.uid) this.#remove(key, undefined);
    const before = this.#store.get(key);
    if (fromList && before !== undefined && before.metadata.resourceVersion === object.metadata.resourceVersion) return;
    const after = this.#keep(key, object);
    if (after === undefined) return;
    if (before === undefined) this.#notify("added", after, (handler) => handler.added?.(after));
    else this.#notify("updated", after, (handler) => handler.updated?.(before, after));
  }

  /** `final` is the object as the DELETED event showed it; absent when the deletion was missed. */
  #remove(key: string, final: T | undefined): void {
    const known = this.#store.get(key);
    if (known === undefined) return;
    this.#store.delete(key);
    let last = known;
    try {
      if (final !== undefined) last = this.#transform(final);
    } catch (error) {
      this.#logger.error({ error, key }, "transform failed, deletion told with the state before");
    }
    this.#notify("deleted", last, (handler) => handler.deleted?.(last));
  }

  /** Transform and indexers are the caller's code: when they throw, the object stays as it was, and we say so. */
  #keep(key: string, object: T): T | undefined {
    try {
      const kept = this.#transform(object);
      this.#store.set(key, kept);
      return kept;
    } catch (error) {
      this.#logger.error({ error, key }, "transform or indexer failed, change ignored");
      return undefined;
    }
  }

  #transform(object: T): T {
    return this.#options.transform?.(object) ?? object;
  }

  #notify(what: string, object: T, call: (handler: ReflectorHandler<T>) => void): void {
    for (const handler of this.#handlers) this.#call(handler, what, object, call);
  }

  #call(handler: ReflectorHandler<T>, what: string, object: T, call: (handler: ReflectorHandler<T>) => void): void {
    try {
      call(handler);
    } catch (error) {
      this.#logger.error({ error, what, key: keyOf(object) }, "event handler failed");
    }
  }
}
