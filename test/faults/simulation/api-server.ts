import type { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import type { ObjectKey, Resource } from "@jobferry/shared/kube/api.ts";
import type { Random } from "../../differential/random.ts";
import type { Party } from "./party.ts";
import type { Scheduler } from "./scheduler.ts";

export type Verb = "get" | "list" | "watch" | "create" | "replace" | "patch" | "delete";

/** A request as it arrives at the server. */
export interface Request {
  readonly party: Party;
  readonly cluster: string;
  readonly verb: Verb;
  readonly resource: Resource;
  readonly key: Partial<ObjectKey>;
  readonly subresource: string | undefined;
  readonly body: unknown;
  readonly dryRun: boolean;
}

export const API_EFFECTS = ["409", "429", "500", "refuse", "cut-though-applied", "hang-though-applied"] as const;
/**
 * `quota`: Jobs cannot be created, because the namespace has its fill of them. `late`: the connection breaks, and what was under way
 * on it is carried out half a minute later.
 */
export type ApiEffect = (typeof API_EFFECTS)[number] | "quota" | "late";
export const LATE_MS = 30_000;

interface Trouble {
  readonly until: number;
  readonly effects: readonly ApiEffect[];
  readonly chance: number;
}

/** Requests or watches that are late. Each of a watch's streams has its luck, and only the unlucky part is hit. */
export interface Lag {
  readonly plural: string;
  readonly lagMs: number;
  readonly share: number;
}

const WRITES = new Set(["create", "replace", "patch", "delete"]);
/** A server answers a conflict only to what names a version of something that is there. */
const CAN_CONFLICT = new Set(["replace", "patch", "delete"]);

/** How well a cluster's API server serves our processes; its own components are next door and never disturbed. */
export class ApiServer {
  readonly name: string;
  readonly cluster: SandboxCluster;
  readonly maxLagMs: number;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #troubles: Trouble[] = [];
  #watchLags: (Lag & { readonly until: number })[] = [];
  #listLags: (Lag & { readonly until: number })[] = [];

  constructor(options: { cluster: SandboxCluster; maxLagMs: number; scheduler: Scheduler; random: Random }) {
    this.name = options.cluster.name;
    this.cluster = options.cluster;
    this.maxLagMs = options.maxLagMs;
    this.#scheduler = options.scheduler;
    this.#random = options.random;
  }

  trouble(ms: number, effects: readonly ApiEffect[], chance: number): void {
    this.#troubles.push({ until: this.#scheduler.elapsed + ms, effects, chance });
  }

  slowWatches(ms: number, lag: Lag): void {
    this.#watchLags.push({ ...lag, until: this.#scheduler.elapsed + ms });
  }

  slowLists(ms: number, lag: Lag): void {
    this.#listLags.push({ ...lag, until: this.#scheduler.elapsed + ms });
  }

  strike({ verb, resource }: Request): ApiEffect | undefined {
    if (this.#troubles.length === 0) return undefined;
    this.#troubles = this.#troubles.filter(({ until }) => until > this.#scheduler.elapsed);
    for (const { effects, chance } of this.#troubles) {
      if (!this.#random.chance(chance)) continue;
      const effect = effects[this.#random.int(0, effects.length - 1)];
      if (effect === "quota" && (verb !== "create" || resource.plural !== "jobs")) continue;
      if (effect === "409" && (!CAN_CONFLICT.has(verb) || resource.plural === "events")) continue;
      if (effect === "late" && (verb !== "patch" || resource.plural !== "jobs")) continue;
      if (!WRITES.has(verb) && effect?.endsWith("-though-applied")) return "refuse";
      return effect;
    }
    return undefined;
  }

  requestLagMs({ verb, resource }: Request): number {
    if (verb !== "list") return 0;
    this.#listLags = this.#listLags.filter(({ until }) => until > this.#scheduler.elapsed);
    return this.#lagOf(this.#listLags, resource.plural, this.#random.next());
  }

  /** `luck` is the stream's own, from 0 to 1. */
  watchLagMs(plural: string, luck: number): number {
    this.#watchLags = this.#watchLags.filter(({ until }) => until > this.#scheduler.elapsed);
    return this.#lagOf(this.#watchLags, plural, luck);
  }

  #lagOf(lags: readonly Lag[], plural: string, luck: number): number {
    let worst = 0;
    for (const lag of lags)
      if (luck < lag.share && (lag.plural === "*" || lag.plural === plural))
        worst = Math.max(worst, this.#random.int(Math.floor(lag.lagMs / 2), lag.lagMs));
    return worst;
  }
}
