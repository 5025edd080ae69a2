import type { Scheduler } from "./scheduler.ts";

/** What a fault reaches: the whole fleet, or one cluster; `process` is one that its agent cannot act in. */
export type Scope = { readonly cluster: string; readonly kind: "contact" | "process" } | "fleet";

const nameOf = (scope: Scope): string => (scope === "fleet" ? scope : `${scope.cluster}/${scope.kind}`);

/** Where it storms and since when it is calm: what the rules may expect of whom. */
export class Weather {
  readonly #scheduler: Scheduler;
  readonly #active = new Map<string, number>();
  readonly #lastEnd = new Map<string, number>();
  readonly #unreadable: { readonly cluster: string; readonly from: number; readonly to: number }[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  begin(scope: Scope): void {
    const name = nameOf(scope);
    this.#active.set(name, (this.#active.get(name) ?? 0) + 1);
  }

  end(scope: Scope): void {
    const name = nameOf(scope);
    this.#active.set(name, (this.#active.get(name) ?? 1) - 1);
    this.#lastEnd.set(name, this.#scheduler.elapsed);
  }

  /** Redis does not answer for this cluster's queues from now on. */
  unreadable(cluster: string, ms: number): void {
    const now = this.#scheduler.elapsed;
    this.#unreadable.push({ cluster, from: now, to: now + ms });
  }

  /** For how much of the last `ms` Redis answered for this cluster's queues. */
  readableMs(cluster: string, ms: number): number {
    const since = this.#scheduler.elapsed - ms;
    const away = this.#unreadable.filter((each) => each.cluster === cluster);
    return away.reduce(
      (left, { from, to }) => left - Math.max(0, Math.min(to, this.#scheduler.elapsed) - Math.max(from, since)),
      ms,
    );
  }

  storm(scope: Scope, ms: number): void {
    this.begin(scope);
    this.#scheduler.at(ms, `calm ${nameOf(scope)}`, () => this.end(scope));
  }

  /** For how long nothing was wrong between the hub and this cluster; without a name: on the hub and in Redis. */
  calmMs(cluster?: string): number {
    const scopes: Scope[] = ["fleet"];
    if (cluster !== undefined) scopes.push({ cluster, kind: "contact" }, { cluster, kind: "process" });
    return Math.min(...scopes.map((scope) => this.#calmMs(scope)));
  }

  /** For how long the cluster's agent and API server could act, in contact or not. */
  processCalmMs(cluster: string): number {
    return this.#calmMs({ cluster, kind: "process" });
  }

  #calmMs(scope: Scope): number {
    const name = nameOf(scope);
    if ((this.#active.get(name) ?? 0) > 0) return 0;
    return this.#scheduler.elapsed - (this.#lastEnd.get(name) ?? 0);
  }
}
