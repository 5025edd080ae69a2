import { Random } from "../../differential/random.ts";
import { SITUATIONS, type Situation } from "./directed.ts";
import { aJob, type Draw, POLICIES } from "./draw.ts";
import { FAULTS, type Make, of, onJob } from "./fault-kinds.ts";
import type { Step } from "./steps.ts";
import { agentOf, twinOf, type WorldOptions } from "./world.ts";

export interface Plan {
  readonly world: WorldOptions;
  /** The situation that this seed drew, or else its kinds of faults. */
  readonly kinds: readonly string[];
  readonly steps: readonly Step[];
}

const WARM_UP_MS = 8_000;

const submit: Make = (draw, at) => {
  const job = aJob(draw, `j${draw.names.length}`);
  draw.names.push(job.name);
  return of({ at, do: "submit", job });
};

const WORK: Readonly<Record<string, readonly [number, Make]>> = {
  submit: [6, submit],
  suspend: [
    2,
    onJob(({ random }, at, job) => of({ at, do: "edit", name: job, spec: { suspend: random.chance(0.5) } })),
  ],
  scale: [
    2,
    onJob(({ random }, at, job) => {
      const parallelism = random.int(1, 4);
      const completions = random.chance(0.3) ? { completions: parallelism } : {};
      return of({ at, do: "edit", name: job, spec: { parallelism, ...completions } });
    }),
  ],
  delete: [
    2,
    onJob((draw, at, job) => {
      const propagation = draw.random.pick(["Background", "Foreground", "Orphan"] as const);
      const steps: Step[] = [{ at, do: "delete", name: job, propagation }];
      // Sometimes it comes back under its name, perhaps before it is gone.
      for (let tries = draw.random.chance(0.5) ? 4 : 0, then = at; tries > 0; tries--) {
        then += draw.random.int(10, 20_000);
        steps.push({ at: then, do: "submit", job: aJob(draw, job) });
      }
      return steps;
    }),
  ],
  policy: [
    1,
    onJob(({ random }, at, job) => of({ at, do: "policy", name: job, policy: random.pick([...POLICIES, null]) })),
  ],
  "queue policy": [0.5, ({ random }, at) => of({ at, do: "queue policy", policy: random.pick(POLICIES) })],
  "delete pod": [1, onJob((_, at, job) => of({ at, do: "delete pod", name: job }))],
  "occupy name": [
    0.5,
    (draw, at) => {
      const job = `j${draw.names.length + draw.random.int(0, 2)}`;
      return of({
        at,
        do: "occupy name",
        name: job,
        cluster: draw.random.pick(draw.clusters as [string]),
        ms: draw.random.int(5_000, 60_000),
      });
    },
  ],
};

/** Everything that will be done to the world of this seed. A subset of the faults for each: rare ones must not drown in frequent ones. */
export function planOf(seed: number): Plan {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995);
  const clusters = ["east", "west", "north"].slice(0, random.int(2, 3)) as [string, ...string[]];
  // Much of a run is the time in which a lost cluster may come back: long ones are rarer, not absent.
  const lostAfterSeconds = random.pick([60, 60, 60, 90, 90, 150]);
  const scale = random.pick([0.2, 1, 2]);
  const twins = random.chance(0.25) ? [random.pick(clusters)] : [];
  const draw: Draw = {
    random,
    clusters,
    programs: ["m1", "m2", ...clusters.map(agentOf), ...twins.map(twinOf)] as [string, ...string[]],
    lostAfterMs: lostAfterSeconds * 1000,
    names: [],
    duration: () =>
      Math.round(
        random.chance(0.35) ? lostAfterSeconds * 1000 * (0.8 + random.next()) : scale * random.int(200, 40_000),
      ),
  };
  const situations = Object.entries(SITUATIONS) as [[string, Situation], ...[string, Situation][]];
  const situation = random.chance(0.5) ? random.pick(situations) : undefined;
  const faults = random.shuffled(Object.keys(FAULTS)).slice(0, random.int(1, 5));
  const steps = situation === undefined ? [] : situation[1](draw);
  if (situation !== undefined) draw.names.push("j0", "j1");
  let at = WARM_UP_MS;
  for (let i = random.int(2, 5); i > 0; i--) steps.push(...submit(draw, at + random.int(0, 2_000)));
  const work = Object.values(WORK) as [readonly [number, Make], ...(readonly [number, Make])[]];
  // Beside a situation little else happens, or it would not come about.
  for (let i = situation === undefined ? random.int(8, 22) : random.int(0, 4); i > 0; i--) {
    at += random.chance(0.2) ? random.int(0, 60_000) : random.int(0, 8_000);
    const make = random.chance(0.5) ? FAULTS[faults[random.int(0, faults.length - 1)] ?? ""] : random.weighted(work);
    steps.push(...(make?.(draw, at) ?? []));
  }
  return {
    world: {
      seed,
      workers: clusters,
      twins,
      planned: random.chance(0.2) ? ["south"] : [],
      lostAfterSeconds,
      maxLagMs: random.pick([0, 5, 20]),
      ...(random.chance(0.2) ? { clocks: wrongClocks(random, ["hub", ...clusters, ...draw.programs]) } : {}),
      ...(random.chance(0.15) ? { shadows: true } : {}),
    },
    kinds: situation === undefined ? faults : [situation[0]],
    steps: steps.toSorted((a, b) => a.at - b.at),
  };
}

/** Up to an hour apart, and a little fast or slow. */
const wrongClocks = (random: Random, machines: readonly string[]): NonNullable<WorldOptions["clocks"]> =>
  Object.fromEntries(
    machines.map((name) => [
      name,
      { offsetMs: random.int(-1_800, 1_800) * 1_000, drift: random.pick([0, 0, 0.001, -0.001]) },
    ]),
  );
