import type { Scheduler } from "./scheduler.ts";

/** What a fault reaches: the whole fleet, or one cluster; `process` is one that its agent cannot act in. */
export type Scope = { readonly cluster: string; readonly kind: "contact" | "process" } | "fleet";

const nameOf = (scope: Scope): string => (scope === "fleet" ? scope : `${scope.cluster}/${scope.kind}`);

/** Where it storms and since when it is calm: what the rules may expect of whom. */
export class Weather {
  readonly #scheduler: Scheduler;
  readonly #active = new Map<string, number>();
  readonly #lastEnd = new Map<string, number>();

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
