/** What goes wrong by itself, each kind with room for chance in it. */
import { API_EFFECTS, type ApiEffect } from "./api-server.ts";
import type { Draw } from "./draw.ts";
import type { Step } from "./steps.ts";

export type Make = (draw: Draw, at: number) => Step[];

const name = ({ random, names }: Draw): string | undefined => names[random.int(0, Math.max(0, names.length - 1))];
export const of = (step: Step): Step[] => [step];
export const onJob =
  (make: (draw: Draw, at: number, name: string) => Step[]): Make =>
  (draw, at) => {
    const chosen = name(draw);
    return chosen === undefined ? [] : make(draw, at, chosen);
  };

const program = ({ random, programs }: Draw): string => random.pick(programs as [string, ...string[]]);
const cluster = ({ random, clusters }: Draw): string => random.pick(["hub", ...clusters]);

export const FAULTS: Readonly<Record<string, Make>> = {
  kill: (draw, at) =>
    of({
      at,
      do: "kill",
      program: program(draw),
      ms: draw.random.chance(0.3) ? draw.duration() : draw.random.int(0, 5_000),
    }),
  terminate: (draw, at) => of({ at, do: "terminate", program: program(draw) }),
  freeze: (draw, at) => of({ at, do: "freeze", program: program(draw), ms: draw.duration() }),
  sleep: (draw, at) => of({ at, do: "sleep", program: program(draw), ms: draw.duration() }),
  cut: (draw, at) => of({ at, do: "cut", program: program(draw), ms: draw.duration(), told: draw.random.chance(0.5) }),
  flush: (_, at) => of({ at, do: "flush" }),
  "redis down": (draw, at) => of({ at, do: "redis down", ms: draw.duration() }),
  "shard away": (draw, at) =>
    of({
      at,
      do: "shard away",
      cluster: draw.random.pick(draw.clusters as [string, ...string[]]),
      ms: draw.duration(),
      empty: draw.random.chance(0.3),
    }),
  "fail over": ({ random }, at) =>
    of({
      at,
      do: "fail over",
      lossMs: random.int(0, 3_000),
      replicaMs: random.chance(0.3) ? random.int(100, 20_000) : 0,
    }),
  "api errors": (draw, at) => {
    const { random } = draw;
    const effects = random.shuffled<ApiEffect>(API_EFFECTS).slice(0, random.int(1, API_EFFECTS.length));
    return of({
      at,
      do: "api errors",
      cluster: cluster(draw),
      ms: random.int(2_000, 30_000),
      effects,
      chance: random.pick([0.05, 0.3, 0.8]),
    });
  },
  "api restart": (draw, at) => of({ at, do: "api restart", cluster: cluster(draw), ms: draw.random.int(100, 15_000) }),
  "cut watches": (draw, at) => of({ at, do: "cut watches", cluster: cluster(draw) }),
  "expire watches": (draw, at) => of({ at, do: "expire watches", cluster: cluster(draw) }),
  "slow watches": (draw, at) => {
    const plural = draw.random.pick(["jobs", "pods", "workerclusters", "*"]);
    return of({
      at,
      do: "slow watches",
      share: draw.random.pick([0.5, 1]),
      cluster: cluster(draw),
      plural,
      ms: draw.random.int(5_000, 60_000),
      lagMs: draw.random.int(100, 15_000),
    });
  },
  "slow lists": (draw, at) => {
    const plural = draw.random.pick(["jobs", "pods", "*"]);
    return of({
      at,
      do: "slow lists",
      share: draw.random.pick([0.5, 1]),
      cluster: cluster(draw),
      plural,
      ms: draw.random.int(5_000, 60_000),
      lagMs: draw.random.int(100, 15_000),
    });
  },
  drain: (draw, at) =>
    of({ at, do: "drain", cluster: draw.random.pick(draw.clusters as [string]), ms: draw.random.int(100, 60_000) }),
  "delete mirror": onJob((draw, at, job) =>
    of({ at, do: "delete mirror", name: job, cluster: draw.random.pick(draw.clusters as [string]) }),
  ),
};
