import type { KubeApi, KubeObject, Resource, WatchEvent, WatchOptions } from "@jobferry/shared/kube/api.ts";
import { ApiError, isInvalid } from "@jobferry/shared/kube/errors.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";

/** What happens to the n-th write or watch event of a controller; everything before it and after it goes well. */
export type Disturbance =
  | { readonly at: "write"; readonly nth: number; readonly effect: WriteEffect }
  | { readonly at: "event"; readonly nth: number; readonly effect: EventEffect };

export const WRITE_EFFECTS = ["crash-before", "crash-after", "409", "429", "500", "timeout-though-applied"] as const;
type WriteEffect = (typeof WRITE_EFFECTS)[number];

export const EVENT_EFFECTS = ["dropped-until-relist", "delayed", "duplicated"] as const;
export type EventEffect = (typeof EVENT_EFFECTS)[number];

/** Long enough for everything else to happen in between. */
const DELAY_MS = 3_000;
const RELIST_AFTER_MS = 20_000;

/** Counts over all incarnations of a controller, so that "the n-th" means the same in every run of one scenario. */
export class Meter {
  writes = 0;
  events = 0;
  struck = false;
  /** Names of all objects that were written, or tried to be. */
  readonly touched = new Set<string>();
}

export interface DisturbedOptions {
  api: KubeApi;
  clock: Clock;
  meter: Meter;
  disturbance: Disturbance | undefined;
  /** The process is gone: nothing it has asked for comes back, nothing it asks for is done. */
  crash(): void;
  /** E.4: the server found a Job's status invalid. */
  refused(what: string): void;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** One incarnation's way to the API server. */
export class DisturbedApi implements KubeApi {
  readonly #options: DisturbedOptions;
  #dead = false;

  constructor(options: DisturbedOptions) {
    this.#options = options;
  }

  /** Cuts the line for good, as SIGKILL does. */
  kill(): void {
    this.#dead = true;
  }

  readonly get: KubeApi["get"] = (...args) => this.#read(() => this.#options.api.get(...args));
  readonly list: KubeApi["list"] = (...args) => this.#read(() => this.#options.api.list(...args));
  readonly create: KubeApi["create"] = (resource, ...rest) =>
    this.#write(resource, rest[1].metadata.name, () => this.#options.api.create(resource, ...rest));
  readonly replace: KubeApi["replace"] = (resource, ...rest) =>
    this.#write(resource, rest[0].name, () => this.#options.api.replace(resource, ...rest));
  readonly patch: KubeApi["patch"] = (resource, ...rest) =>
    this.#write(resource, rest[0].name, () => this.#options.api.patch(resource, ...rest));
  readonly delete: KubeApi["delete"] = (resource, ...rest) =>
    this.#write(resource, rest[0].name, () => this.#options.api.delete(resource, ...rest));

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>[], void, undefined> {
    const { api, clock } = this.#options;
    const expiry = new AbortController();
    const signal = options.signal === undefined ? expiry.signal : AbortSignal.any([options.signal, expiry.signal]);
    try {
      for await (const batch of api.watch(resource, { ...options, signal })) {
        if (this.#dead) await never();
        const passed: WatchEvent<T>[] = [];
        for (const event of batch) {
          const effect = this.#effectOn(event);
          if (effect === "delayed") {
            if (passed.length > 0) yield passed.splice(0);
            await sleep(clock, DELAY_MS, signal);
          }
          // A lost event shows only in the next list: the watch expires a while later.
          if (effect === "dropped-until-relist") clock.after(RELIST_AFTER_MS, () => expiry.abort());
          else passed.push(event);
          if (effect === "duplicated") passed.push(event);
        }
        if (passed.length > 0) yield passed;
      }
    } catch (error) {
      throw expiry.signal.aborted ? new ApiError(410, "Expired", "injected: the watch expired") : error;
    }
    if (expiry.signal.aborted) throw new ApiError(410, "Expired", "injected: the watch expired");
  }

  #effectOn(event: WatchEvent<KubeObject>): EventEffect | undefined {
    const { meter, disturbance } = this.#options;
    if (event.type === "BOOKMARK" || event.type === "ERROR") return undefined;
    meter.events++;
    if (disturbance?.at !== "event" || meter.events !== disturbance.nth) return undefined;
    meter.struck = true;
    return disturbance.effect;
  }

  async #read<T>(call: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    const result = await call();
    return this.#dead ? never() : result;
  }

  async #observed<T>(resource: Resource, request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (resource.plural === "jobs" && isInvalid(error)) this.#options.refused(`refused: ${String(error)}`);
      throw error;
    }
  }

  async #write<T>(resource: Resource, name: string | undefined, request: () => Promise<T>): Promise<T> {
    const { meter, disturbance, crash } = this.#options;
    if (this.#dead) return never();
    // Events about events are a courtesy, not part of the protocol under test.
    if (resource.plural === "events") return this.#read(request);
    meter.touched.add(name ?? "");
    const call = (): Promise<T> => this.#observed(resource, request);
    const isHit = ++meter.writes === (disturbance?.at === "write" ? disturbance.nth : undefined);
    if (!isHit || disturbance?.at !== "write") return this.#read(call);
    meter.struck = true;
    switch (disturbance.effect) {
      case "crash-before":
        crash();
        return never();
      case "crash-after":
        await call().catch(() => {});
        crash();
        return never();
      case "409":
        throw new ApiError(409, "Conflict", "injected: the object has been modified");
      case "429":
        throw new ApiError(429, "TooManyRequests", "injected: too many requests", { retryAfterMs: 1000 });
      case "500":
        throw new ApiError(500, "InternalError", "injected: internal error");
      case "timeout-though-applied":
        await call();
        throw new ApiError(0, "Timeout", "injected: no answer came");
    }
  }
}
