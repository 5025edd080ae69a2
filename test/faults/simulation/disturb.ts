import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Book } from "./book.ts";
import type { Program } from "./program.ts";
import type { FaultStep } from "./steps.ts";
import type { Scope } from "./weather.ts";
import { agentOf, twinOf, type World } from "./world.ts";

type Actions = { [K in FaultStep["do"]]: (step: Extract<FaultStep, { readonly do: K }>) => void };

/** The managers are down for this long while the hub is restored. */
const RESTORE_MS = 3_000;

/** Does what the steps of a plan say that goes wrong, and ends it in time. */
export class Disturber {
  readonly #world: World;

  readonly #book: Book;
  #backup = 0;
  readonly #onHandOver: (() => void)[] = [];

  constructor(world: World, book: Book) {
    this.#world = world;
    this.#book = book;
    book.listen({
      mirror: ({ gone, byHand }) => {
        if (gone && !byHand) for (const act of this.#onHandOver.splice(0)) act();
      },
    });
  }

  do<K extends FaultStep["do"]>(step: Extract<FaultStep, { readonly do: K }>): void {
    const meant = this.#meant(step);
    if (meant !== undefined) this.#actions[step.do as K](meant);
  }

  /** Puts the name of a program or cluster where the step says whose it is. */
  #meant<S extends FaultStep>(step: S): S | undefined {
    if ("cluster" in step) {
      const cluster = this.#book.clusterOf(step.cluster);
      return cluster === undefined ? undefined : { ...step, cluster };
    }
    if (!("program" in step) || !step.program.startsWith("agent ")) return step;
    const cluster = this.#book.clusterOf(step.program.replace("agent ", "cluster "));
    return cluster === undefined ? undefined : { ...step, program: agentOf(cluster) };
  }

  readonly #actions: Actions = {
    kill: ({ program: name, ms }) => {
      const program = this.#program(name);
      this.#storm(name, "process", ms);
      program.kill();
      this.#later(ms, () => program.start());
    },
    terminate: ({ program }) => {
      this.#storm(program, "process", 15_000);
      this.#program(program).terminate();
    },
    freeze: ({ program, ms }) => this.#freeze(program, ms, false),
    sleep: ({ program, ms }) => this.#freeze(program, ms, true),
    cut: ({ program: name, ms, told }) => {
      const program = this.#program(name);
      this.#storm(name, "contact", ms);
      program.cut(told);
      this.#later(ms, () => program.mend());
    },
    flush: () => {
      this.#storm("redis", "contact", 0);
      this.#world.redis.flush();
    },
    "back up hub": () => {
      this.#backup = this.#world.hub.cluster.revision;
    },
    "restore hub": ({ bump, cordonMs = 0 }) => {
      const { hub, managers, trace } = this.#world;
      this.#storm("hub", "process", RESTORE_MS + 1_000);
      for (const program of managers.values()) program.kill();
      const before = hub.cluster.revision;
      hub.cluster.restore(this.#backup, bump);
      trace.say(`hub restored from ${before} to ${this.#backup}`);
      this.#book.restored();
      if (cordonMs > 0) {
        this.#cordon(true);
        this.#later(cordonMs, () => this.#cordon(false));
      }
      this.#later(RESTORE_MS, () => {
        for (const program of managers.values()) program.start();
      });
    },
    "redis down": ({ ms }) => {
      this.#storm("redis", "contact", ms);
      this.#world.isRedisUp = false;
      this.#resetAll();
      this.#later(ms, () => {
        this.#world.isRedisUp = true;
      });
    },
    "shard away": ({ cluster, ms, empty }) => {
      const { redis, weather } = this.#world;
      if (redis.shardsAway.has(cluster)) return;
      this.#storm(cluster, "contact", ms);
      weather.unreadable(cluster, ms);
      redis.shardsAway.add(cluster);
      this.#later(ms, () => {
        redis.shardsAway.delete(cluster);
        if (empty) redis.forget(cluster);
      });
    },
    "fail over": ({ lossMs, replicaMs }) => this.#failOver(lossMs, replicaMs),
    "fail over at hand-over": ({ ms, delayMs, lossMs }) => {
      const until = this.#world.scheduler.elapsed + ms;
      this.#onHandOver.push(() => {
        if (this.#world.scheduler.elapsed < until) this.#later(delayMs, () => this.#failOver(lossMs, 0));
      });
    },
    "slow redis": ({ program, ms, lagMs }) => {
      this.#storm(program, "contact", ms + lagMs);
      this.#program(program).slowRedis(ms, lagMs);
    },
    "api errors": ({ cluster, ms, effects, chance }) => {
      this.#storm(cluster, "process", ms);
      this.#world.server(cluster).trouble(ms, effects, chance);
    },
    "api restart": ({ cluster, ms }) => {
      this.#storm(cluster, "process", ms);
      void this.#world.server(cluster).cluster.restart(ms);
    },
    "cut watches": ({ cluster }) => {
      this.#storm(cluster, "process", 0);
      this.#world.server(cluster).cluster.cutWatches();
    },
    "expire watches": ({ cluster: name }) => {
      const { cluster } = this.#world.server(name);
      this.#storm(name, "process", 0);
      cluster.compact();
      cluster.cutWatches();
    },
    "slow watches": ({ cluster, ms, ...lag }) => {
      this.#storm(cluster, "process", ms + lag.lagMs);
      this.#world.server(cluster).slowWatches(ms, lag);
    },
    "slow lists": ({ cluster, ms, ...lag }) => {
      this.#storm(cluster, "process", ms + lag.lagMs);
      this.#world.server(cluster).slowLists(ms, lag);
    },
  };

  #cordon(cordoned: boolean): void {
    const body = { spec: { cordoned } };
    for (const name of this.#world.workers.keys())
      void this.#world.apiOf("hub").patch(workerClusters, { name }, { type: "merge", body });
  }

  #freeze(name: string, ms: number, asleep: boolean): void {
    const program = this.#program(name);
    this.#storm(name, "process", ms);
    program.freeze(asleep);
    this.#later(ms, () => program.thaw());
  }

  /** The old primary may go on as a replica for a while before its clients hear of the new one. */
  #failOver(lossMs: number, replicaMs: number): void {
    const { redis, trace } = this.#world;
    this.#storm("redis", "contact", replicaMs);
    trace.say(`${redis.failOver(lossMs)} changes of Redis are lost`);
    redis.isReplica = replicaMs > 0;
    this.#later(replicaMs, () => {
      redis.isReplica = false;
      this.#resetAll();
    });
  }

  #resetAll(): void {
    for (const program of this.#world.programs()) program.reset();
  }

  #later(ms: number, act: () => void): void {
    this.#world.scheduler.at(ms, "a fault ends", act);
  }

  #storm(name: string, kind: "contact" | "process", ms: number): void {
    this.#world.weather.storm(this.#scopeOf(name, kind), ms + 1);
  }

  /** A fault of a manager, of the hub or of Redis is the fleet's. */
  #scopeOf(name: string, kind: "contact" | "process"): Scope {
    for (const cluster of this.#world.workers.keys())
      if ([cluster, agentOf(cluster), twinOf(cluster)].includes(name)) return { cluster, kind };
    return "fleet";
  }

  #program(name: string): Program {
    const program = this.#world.programs().find((each) => each.name === name);
    if (program === undefined) throw new Error(`no program ${name}`);
    return program;
  }
}
