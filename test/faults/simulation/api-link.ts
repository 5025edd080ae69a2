import type {
  CallOptions,
  KubeApi,
  KubeObject,
  ObjectKey,
  Resource,
  WatchEvent,
  WatchOptions,
} from "@jobferry/shared/kube/api.ts";
import { ApiError, reasonOf } from "@jobferry/shared/kube/errors.ts";
import { type AfterFailure, canRetry } from "@jobferry/shared/kube/retry.ts";
import { Backoff } from "@jobferry/shared/runtime/backoff.ts";
import { sleep } from "@jobferry/shared/runtime/clock.ts";
import { type ApiServer, LATE_MS, type Request, type Verb } from "./api-server.ts";
import type { Party } from "./party.ts";
import { Pipe, type Scheduler } from "./scheduler.ts";

export interface ApiLinkOptions {
  readonly party: Party;
  readonly server: ApiServer;
  readonly api: KubeApi;
  readonly scheduler: Scheduler;
  /** Sees every request that reaches the server and is about to be carried out, unless it says that it was lost. */
  onRequest(request: Request): "lost" | undefined;
  onAnswer(request: Request, error: unknown): "lost" | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 4;
const CLOSED = new Error("the watch was closed");

type Call = Omit<Request, "party" | "cluster">;

/** A process's way to an API server: every request and every answer takes its time, may fail, and is retried as our client does. */
export class ApiLink implements KubeApi {
  readonly #options: ApiLinkOptions;

  constructor(options: ApiLinkOptions) {
    this.#options = options;
  }

  readonly get: KubeApi["get"] = (resource, key, options) =>
    this.#call(call("get", resource, key), "safe", () => this.#options.api.get(resource, key), options);

  readonly list: KubeApi["list"] = (resource, options = {}) => {
    const { signal: _, timeoutMs: __, ...query } = options;
    return this.#call(call("list", resource, {}), "safe", () => this.#options.api.list(resource, query), options);
  };

  readonly create: KubeApi["create"] = (resource, namespace, object, options) => {
    const { subresource, dryRun } = options ?? {};
    const key = { ...(namespace && { namespace }), ...(object.metadata.name && { name: object.metadata.name }) };
    return this.#call(
      { ...call("create", resource, key, object), subresource, dryRun: dryRun ?? false },
      object.metadata.name ? "repeatable" : "once",
      () => this.#options.api.create(resource, namespace, object, server(options)),
      options,
    );
  };

  readonly replace: KubeApi["replace"] = (resource, key, object, options) =>
    this.#call(
      { ...call("replace", resource, key, object), subresource: options?.subresource },
      "repeatable",
      () => this.#options.api.replace(resource, key, object, server(options)),
      options,
    );

  readonly patch: KubeApi["patch"] = (resource, key, patch, options) =>
    this.#call(
      { ...call("patch", resource, key, patch.body), subresource: options?.subresource },
      patch.type === "json" ? "once" : "repeatable",
      () => this.#options.api.patch(resource, key, patch, server(options)),
      options,
    );

  readonly delete: KubeApi["delete"] = (resource, key, options) =>
    this.#call(
      call("delete", resource, key),
      "repeatable",
      () => this.#options.api.delete(resource, key, server(options)),
      options,
    );

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>[], void, undefined> {
    const { party, server: there, scheduler, api } = this.#options;
    options.signal?.throwIfAborted();
    const closing = new AbortController();
    const arrived: ({ batch: WatchEvent<T>[] } | { end: unknown })[] = [];
    let wake = (): void => {};
    // With a reason of its own: to make one up costs more than all else here.
    const close = (): void => closing.abort(CLOSED);
    const onAbort = (): void => {
      close();
      wake();
    };
    party.onDeath(close);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const [own, luck] = [party.random.int(0, there.maxLagMs), party.random.next()];
    const lag = (): number => own + party.random.int(0, there.maxLagMs) + there.watchLagMs(resource.plural, luck);
    const pipe = new Pipe(scheduler, lag, party);
    const label = `${party.name} watch ${resource.plural}`;
    const pass = (item: (typeof arrived)[number]): void =>
      pipe.send(label, () => {
        arrived.push(item);
        wake();
      });
    const open = async (): Promise<void> => {
      try {
        for await (const batch of api.watch(resource, { ...options, signal: closing.signal })) pass({ batch });
        pass({ end: undefined });
      } catch (error) {
        if (!closing.signal.aborted) pass({ end: error });
      }
    };
    scheduler.at(party.random.int(0, there.maxLagMs), label, () => void open());
    try {
      for (;;) {
        options.signal?.throwIfAborted();
        const next = arrived.shift();
        if (next === undefined)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        else if ("batch" in next) yield next.batch;
        else if (next.end === undefined) return;
        else throw next.end;
      }
    } finally {
      close();
      options.signal?.removeEventListener("abort", onAbort);
    }
  }

  async #call<T>(
    request: Call,
    afterFailure: AfterFailure,
    perform: () => Promise<T>,
    { signal, timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<T> {
    const { clock, random } = this.#options.party;
    const deadline = clock.monotonic() + timeoutMs;
    const backoff = new Backoff({ baseMs: 100, maxMs: 5_000, random: () => random.next() });
    for (let tries = 0; ; tries++) {
      signal?.throwIfAborted();
      try {
        return await this.#attempt(request, perform, deadline - clock.monotonic(), signal);
      } catch (error) {
        if (!(error instanceof ApiError) || tries >= MAX_RETRIES || !canRetry(error, afterFailure)) throw error;
        const waitMs = backoff.next(error.retryAfterMs);
        if (clock.monotonic() + waitMs >= deadline) throw error;
        await sleep(clock, waitMs, signal);
      }
    }
  }

  #attempt<T>(call: Call, perform: () => Promise<T>, leftMs: number, signal: AbortSignal | undefined): Promise<T> {
    const { party, server: there, scheduler, onRequest, onAnswer } = this.#options;
    const request: Request = { ...call, party, cluster: there.name };
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const label = `${party.name} ${call.verb} ${call.resource.plural}/${call.key.name ?? ""}`;
    const cancelTimer = party.clock.after(Math.max(0, leftMs), () =>
      reject(new ApiError(0, "Timeout", "no answer came in time")),
    );
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const end = (): void => {
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
    };
    const answer = (settle: () => void): void => {
      scheduler.at(
        party.random.int(0, there.maxLagMs),
        label,
        () => {
          end();
          settle();
        },
        party,
      );
    };
    const effect = there.strike(request);
    const fail = (code: number, retryAfterMs?: number): void => {
      const message = code === 403 ? "exceeded quota: simulated" : `injected: ${code}`;
      const error = new ApiError(code, code === 0 ? "ConnectionFailed" : reasonOf(code), message, {
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
      scheduler.trace.say(`${label}${call.subresource ? "/status" : ""}: ${effect}`);
      answer(() => reject(error));
    };
    const arrive = async (): Promise<void> => {
      if (effect === "refuse") return fail(0);
      if (effect === "409") return fail(409);
      if (effect === "quota") return fail(403);
      if (effect === "429") return fail(429, 1000);
      if (effect === "500") return fail(500);
      if (effect === "late") {
        scheduler.at(LATE_MS, `${label} late`, () => void perform().catch(() => {}));
        return fail(0);
      }
      if (onRequest(request) === "lost") return;
      let settle: () => void;
      let failure: unknown;
      try {
        const value = await perform();
        settle = () => resolve(value);
      } catch (error) {
        failure = error;
        settle = () => reject(error);
      }
      if (onAnswer(request, failure) === "lost") return;
      if (effect === "hang-though-applied") {
        scheduler.trace.say(`${label}: no answer`);
        return;
      }
      if (effect === "cut-though-applied") return fail(0);
      answer(settle);
    };
    const outMs = party.random.int(0, there.maxLagMs) + there.requestLagMs(request);
    scheduler.at(outMs, label, () => void arrive());
    promise.then(end, end);
    return promise;
  }
}

const call = (verb: Verb, resource: Resource, key: Partial<ObjectKey>, body?: unknown): Call => ({
  verb,
  resource,
  key,
  body,
  subresource: undefined,
  dryRun: false,
});

/** What the server is told: when to give up is the client's affair. */
function server<T extends CallOptions>(options: T | undefined): Omit<T, "signal" | "timeoutMs"> | undefined {
  if (options === undefined) return undefined;
  const { signal: _, timeoutMs: __, ...rest } = options;
  return rest;
}
