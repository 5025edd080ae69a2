import { type Clock, sleep, timestamp } from "../runtime/clock.ts";
import { type Logger, silentLogger } from "../runtime/logger.ts";
import { LruMap } from "../runtime/lru-map.ts";
import { TokenBucket } from "../runtime/token-bucket.ts";
import type { KubeApi, KubeObject, Resource } from "./api.ts";
import { ApiError, isAlreadyExists, isNotFound } from "./errors.ts";
import { events, type KubeEvent } from "./resources.ts";
import { type MeasureQueue, WorkQueue } from "./workqueue.ts";

export interface EventRecorderOptions {
  api: KubeApi;
  clock: Clock;
  /** `source.component`, e.g. `job-controller`. */
  component: string;
  host?: string;
  logger?: Logger;
  /** Distinct events waiting to be written; more are dropped. */
  maxPending?: number;
  /** Objects, and events, remembered for counting. */
  cacheSize?: number;
  /** Bounds the Normal events of all objects together. */
  normal?: { perSecond: number; burst: number };
  /** Hears why an event was not written: too many of one object, too many in all, none may wait any more, the server's no. */
  onDropped?(why: "spam" | "flood" | "full" | "rejected"): void;
  queueMetrics?: MeasureQueue | undefined;
}

/** As client-go: an object may have 25 events at once and then one per five minutes. */
const PER_OBJECT = { perSecond: 1 / 300, burst: 25 };

/**
 * For the Normal events of all objects together: in a flood they would cost as many writes as the work itself, and nobody can
 * read that many. client-go loses events there, too, when its buffer is full, but warnings with them.
 */
const NORMAL = { perSecond: 10, burst: 100 };

/** As client-go: from the eleventh message for one reason within ten minutes on, they share one event. */
const MAX_SIMILAR = 10;
const SIMILAR_MS = 600_000;
const COMBINED = "(combined from similar events): ";

const MAX_MESSAGE_CHARS = 1024;
const MAX_TRIES = 8;

/** One event as it stands on the server, or will. */
interface Series {
  event: KubeEvent & { count: number };
  /** Its name there, once it is. */
  name: string | undefined;
}

interface Similar {
  messages: Set<string>;
  since: number;
}

/**
 * Writes core/v1 Events in the background. Recording costs the caller no wait and never fails; the same event again only
 * raises the count of the one on the server, and counts that come while a write is under way share the next one.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #logger: Logger;
  readonly #series: LruMap<string, Series>;
  readonly #similar: LruMap<string, Similar>;
  readonly #buckets: LruMap<string, TokenBucket>;
  readonly #normal: TokenBucket;
  /** What is not yet on the server as it should be. */
  readonly #pending = new Map<string, Series>();
  readonly #queue: WorkQueue;
  #onIdle: (() => void)[] = [];
  #serial = 0;
  #stopped = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    const cacheSize = options.cacheSize ?? 4096;
    this.#series = new LruMap(cacheSize);
    this.#similar = new LruMap(cacheSize);
    this.#buckets = new LruMap(cacheSize);
    this.#normal = new TokenBucket(options.clock, options.normal ?? NORMAL);
    this.#queue = new WorkQueue({
      name: "events",
      clock: options.clock,
      metrics: options.queueMetrics,
      concurrency: 4,
      backoff: { baseMs: 500, maxMs: 30_000 },
      process: (key, signal) => this.#write(key, signal),
    });
    this.#queue.start();
  }

  /** Records that `reason` happened to `object`, which is one of `resource`; several times, when told by another. */
  record(
    resource: Resource,
    object: KubeObject,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
    times = 1,
  ): void {
    if (this.#stopped) return;
    const { clock } = this.#options;
    const about = `${resource.plural}/${object.metadata.namespace ?? ""}/${object.metadata.name}/${object.metadata.uid}`;
    const bucket = this.#buckets.getOrAdd(about, () => new TokenBucket(clock, PER_OBJECT));
    const isSpam = !bucket.tryTake();
    const { key, text } = this.#combine(`${about}/${type}/${reason}`, message.slice(0, MAX_MESSAGE_CHARS));
    const obstacle = isSpam ? "spam" : this.#obstacle(type, key);
    if (obstacle !== undefined) {
      this.#options.onDropped?.(obstacle);
      return;
    }
    const series = this.#series.getOrAdd(key, () => this.#newSeries(resource, object, type, reason));
    series.event.count += times;
    series.event.message = text;
    series.event.lastTimestamp = timestamp(clock.now());
    this.#pending.set(key, series);
    this.#queue.add(key);
  }

  /** Resolves when everything recorded so far is written or given up, or after `timeoutMs`. */
  async flush(timeoutMs = 5_000): Promise<void> {
    if (this.#pending.size === 0) return;
    const timeout = new AbortController();
    const idle = new Promise<void>((resolve) => this.#onIdle.push(resolve));
    await Promise.race([idle, sleep(this.#options.clock, timeoutMs, timeout.signal).catch(() => {})]);
    timeout.abort();
  }

  /** Flushes and ends; later events are ignored. */
  async stop(timeoutMs?: number): Promise<void> {
    this.#stopped = true;
    await this.flush(timeoutMs);
    await this.#queue.stop();
  }

  #obstacle(type: "Normal" | "Warning", key: string): "flood" | "full" | undefined {
    if (type === "Normal" && !this.#normal.tryTake()) return "flood";
    const { maxPending = 1000 } = this.#options;
    return !this.#pending.has(key) && this.#pending.size >= maxPending ? "full" : undefined;
  }

  #combine(group: string, message: string): { key: string; text: string } {
    const now = this.#options.clock.monotonic();
    const similar = this.#similar.getOrAdd(group, () => ({ messages: new Set(), since: now }));
    if (now - similar.since > SIMILAR_MS) similar.messages.clear();
    similar.since = now;
    if (similar.messages.size < MAX_SIMILAR || similar.messages.has(message)) {
      similar.messages.add(message);
      return { key: `${group}/${message}`, text: message };
    }
    return { key: group, text: COMBINED + message };
  }

  #newSeries(resource: Resource, object: KubeObject, type: string, reason: string): Series {
    const { namespace, name = "", uid, resourceVersion } = object.metadata;
    const { component, host, clock } = this.#options;
    return {
      name: undefined,
      event: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace: namespace ?? "default" },
        involvedObject: {
          kind: resource.kind,
          apiVersion: resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
          name,
          ...(namespace === undefined ? {} : { namespace }),
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
        reason,
        type,
        count: 0,
        firstTimestamp: timestamp(clock.now()),
        source: { component, ...(host === undefined ? {} : { host }) },
        reportingComponent: component,
        reportingInstance: host ?? "",
      },
    };
  }

  async #write(key: string, signal: AbortSignal): Promise<void> {
    const series = this.#pending.get(key);
    if (series === undefined) return;
    const { count } = series.event;
    try {
      await this.#send(series, signal);
    } catch (error) {
      if (isTemporary(error) && this.#queue.failures(key) < MAX_TRIES) throw error;
      const { reason, involvedObject } = series.event;
      this.#logger.debug({ error, reason, object: involvedObject.name }, "event could not be written");
      this.#options.onDropped?.("rejected");
    }
    if (series.event.count === count) this.#pending.delete(key);
    if (this.#pending.size > 0) return;
    for (const resolve of this.#onIdle) resolve();
    this.#onIdle = [];
  }

  async #send(series: Series, signal: AbortSignal): Promise<void> {
    const { api } = this.#options;
    const { metadata, count, lastTimestamp, message } = series.event;
    const { namespace = "default" } = metadata;
    if (series.name !== undefined) {
      try {
        const body = { count, lastTimestamp, message };
        await api.patch(events, { namespace, name: series.name }, { type: "strategic", body }, { signal });
        return;
      } catch (error) {
        // Events live for an hour on the server: ours has gone, the series goes on under a new name.
        if (!isNotFound(error)) throw error;
      }
    }
    const name = this.#newName(series.event.involvedObject.name ?? "");
    series.name = undefined;
    try {
      await api.create(events, namespace, { ...series.event, metadata: { namespace, name } }, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    series.name = name;
  }

  /** `<object>.<hex>`, the hex being nanoseconds as in client-go; our clock has none, a serial number stands in. */
  #newName(object: string): string {
    this.#serial = (this.#serial + 1) % 1_000_000;
    const nanos = BigInt(Math.floor(this.#options.clock.now())) * 1_000_000n + BigInt(this.#serial);
    return `${object.slice(0, 230)}.${nanos.toString(16)}`;
  }
}

const isTemporary = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.code === 0 || error.code === 429 || error.code >= 500;
