/** What tests break on purpose: single requests, their answers, watch events, and lists. */
import type { WatchEvent } from "@jobferry/shared/kube/api.ts";
import { ApiError, reasonOf } from "@jobferry/shared/kube/errors.ts";
import { failure } from "./api/errors.ts";
import type { Stored } from "./store/frozen.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** One request, as faults and observers see it. */
export interface Call {
  readonly client: string;
  readonly verb: Verb;
  /** Plural name: "pods", "jobs". */
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** What a fault waits for; what is left out matches anything. */
export interface CallMatch {
  readonly client?: string;
  readonly verb?: Verb | readonly Verb[];
  readonly resource?: string;
  /** "" matches only calls without a subresource. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly when?: (call: Call) => boolean;
}

export interface Occurrence {
  /** The first matching request to strike, counted from 1. */
  readonly nth?: number;
  /** How many to strike from there on; 1 unless told, Infinity for all. */
  readonly times?: number;
}

export type FaultEffect =
  /** Answered with an error, not carried out. */
  | {
      readonly effect: "fail";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** Carried out, but the answer is an error (504 unless told). */
  | { readonly effect: "applyThenFail"; readonly code?: number; readonly reason?: string }
  /** The connection breaks before the request arrives. */
  | { readonly effect: "drop" }
  /** Carried out, but the connection breaks before the answer. */
  | { readonly effect: "dropAnswer" }
  | { readonly effect: "delay"; readonly ms: number };

export type WatchFaultEffect =
  | { readonly effect: "dropEvent" }
  | { readonly effect: "duplicateEvent" }
  /** This event and those behind it arrive later. */
  | { readonly effect: "delayEvent"; readonly ms: number }
  /** The stream ends before this event. */
  | { readonly effect: "cut" };

export interface WriteObserver {
  before?(call: Call): void | Promise<void>;
  after?(call: Call): void | Promise<void>;
}

/** What happens to one request. */
export interface Plan {
  readonly delayMs: number;
  readonly before: Error | undefined;
  readonly after: Error | undefined;
}

interface Rule<Effect> {
  readonly match: CallMatch;
  readonly effect: Effect;
  skip: number;
  left: number;
}

const UNDISTURBED: Plan = { delayMs: 0, before: undefined, after: undefined };
const READS: ReadonlySet<Verb> = new Set<Verb>(["get", "list", "watch"]);

export class Faults {
  readonly #calls = new Set<Rule<FaultEffect>>();
  readonly #events = new Set<Rule<WatchFaultEffect>>();
  readonly #stale = new Map<CallMatch, number>();
  readonly #observers = new Set<WriteObserver>();

  /** Disturbs requests. The returned function withdraws the fault. */
  inject(match: CallMatch, effect: FaultEffect, occurrence: Occurrence = {}): () => void {
    return addRule(this.#calls, match, effect, occurrence);
  }

  /** Disturbs watch events; `nth` counts the events that reach matching watches, bookmarks aside. */
  injectWatch(match: CallMatch, effect: WatchFaultEffect, occurrence: Occurrence = {}): () => void {
    return addRule(this.#events, match, effect, occurrence);
  }

  /** Matching lists answer as of `revision` until withdrawn. */
  serveStale(match: CallMatch, revision: string): () => void {
    this.#stale.set(match, Number(revision));
    return () => this.#stale.delete(match);
  }

  /** Sees every write that is not a dry run; a promise it returns is awaited, so it can hold a write back for good. */
  observeWrites(observer: WriteObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Withdraws every fault; observers stay. */
  clear(): void {
    this.#calls.clear();
    this.#events.clear();
    this.#stale.clear();
  }

  planFor(call: Call): Plan {
    if (this.#calls.size === 0) return UNDISTURBED;
    let { delayMs, before, after } = UNDISTURBED;
    for (const rule of this.#calls) {
      if (!strikes(rule, call, this.#calls)) continue;
      const { effect } = rule;
      if (effect.effect === "delay") delayMs += effect.ms;
      else if (effect.effect === "fail" || effect.effect === "drop") before ??= toError(effect);
      else after ??= toError(effect);
    }
    return { delayMs, before, after };
  }

  staleRevision(call: Call): number | undefined {
    for (const [match, revision] of this.#stale) if (matches(match, call)) return revision;
    return undefined;
  }

  get disturbsWatches(): boolean {
    return this.#events.size > 0;
  }

  effectsOn(call: Call, event: WatchEvent<Stored>): WatchFaultEffect[] {
    if (event.type === "BOOKMARK" || event.type === "ERROR") return [];
    const about = { ...call, namespace: event.object.metadata.namespace, name: event.object.metadata.name };
    return [...this.#events].filter((rule) => strikes(rule, about, this.#events)).map((rule) => rule.effect);
  }

  async notify(moment: "before" | "after", call: Call): Promise<void> {
    if (this.#observers.size === 0 || READS.has(call.verb) || call.dryRun === true) return;
    for (const observer of [...this.#observers]) await observer[moment]?.(call);
  }
}

function addRule<Effect>(
  rules: Set<Rule<Effect>>,
  match: CallMatch,
  effect: Effect,
  { nth = 1, times = 1 }: Occurrence,
): () => void {
  const rule = { match, effect, skip: nth - 1, left: times };
  rules.add(rule);
  return () => rules.delete(rule);
}

function strikes<Effect>(rule: Rule<Effect>, call: Call, rules: Set<Rule<Effect>>): boolean {
  if (!matches(rule.match, call)) return false;
  if (rule.skip > 0) {
    rule.skip--;
    return false;
  }
  if (--rule.left <= 0) rules.delete(rule);
  return true;
}

function matches(match: CallMatch, call: Call): boolean {
  if (match.client !== undefined && match.client !== call.client) return false;
  if (match.verb !== undefined && !(Array.isArray(match.verb) ? match.verb : [match.verb]).includes(call.verb))
    return false;
  if (match.resource !== undefined && match.resource !== call.resource) return false;
  if (match.subresource !== undefined && match.subresource !== (call.subresource ?? "")) return false;
  if (match.namespace !== undefined && match.namespace !== call.namespace) return false;
  if (match.name !== undefined && match.name !== call.name) return false;
  return match.when?.(call) ?? true;
}

function toError(effect: Exclude<FaultEffect, { effect: "delay" }>): ApiError {
  switch (effect.effect) {
    case "drop":
      return new ApiError(0, "ConnectionFailed", "the connection broke before the request was sent (injected fault)");
    case "dropAnswer":
      return new ApiError(0, "ConnectionFailed", "the connection broke before the answer came (injected fault)");
    case "fail":
    case "applyThenFail": {
      const code = effect.code ?? 504;
      const seconds = effect.effect === "fail" ? effect.retryAfterSeconds : undefined;
      const details = seconds === undefined ? undefined : { retryAfterSeconds: seconds };
      const message = (effect.effect === "fail" ? effect.message : undefined) ?? `injected fault: ${code}`;
      return failure(code, effect.reason ?? reasonOf(code), message, details);
    }
  }
}
