/**
 * Where two things meet: situations that chance alone rarely brings about, each with room for chance in it. "agent of j0" is the
 * agent of the cluster that has the Job at that moment.
 */
import { aJob, type Draw, POLICIES } from "./draw.ts";
import { FAULTS } from "./fault-kinds.ts";
import type { Step } from "./steps.ts";

export type Situation = (draw: Draw) => Step[];

const START_MS = 9_000;
/** No Job of the policy StopThenRedispatch moves sooner: its pods have to end first. */
const movedAfterMs = ({ lostAfterMs }: Draw): number => Math.max(lostAfterMs, 105_000) + 15_000;

const long = (draw: Draw, name: string, policy: string, more: object = {}): Step => {
  const runMs = draw.random.int(30_000, 250_000);
  const fixed = { policy, runMs, stopMs: draw.random.int(0, 20_000), suspend: false, kind: "indexed" as const };
  const { only: _, ...job } = aJob(draw, name, {
    ...fixed,
    completions: 4,
    parallelism: draw.random.int(1, 4),
    ...more,
  });
  return { at: START_MS, do: "submit", job };
};

/** Makes the manager say something about the Job to whoever has it. */
function prompt({ random }: Draw, at: number, name: string): Step[] {
  return random.pick<Step[]>([
    [{ at, do: "edit", name, spec: { parallelism: random.int(1, 4) } }],
    ["m1", "m2"].map((program) => ({ at, do: "cut", program, ms: 1_000, told: true })),
    ["m1", "m2"].map((program) => ({ at: at + random.int(0, 1_000), do: "kill", program, ms: random.int(0, 3_000) })),
    ["m1", "m2"].map((program) => ({ at: at + random.int(0, 1_000), do: "terminate", program })),
  ]);
}

/** Two Jobs of which each fills a cluster, and a third that is more important than both. */
function displacement(draw: Draw, at: number): Step[] {
  const { random } = draw;
  const common = { queue: "lab", cpu: 40, parallelism: 1, completions: random.int(1, 3) };
  const filling = draw.clusters.map((only, i) => {
    const name = ["j0", "j1"][i] ?? "filling";
    const job = long(draw, name, random.pick(POLICIES), { ...common, priority: random.int(0, 3) });
    return job.do === "submit" ? { ...job, job: { ...job.job, only } } : job;
  });
  const urgent = aJob(draw, "urgent", { ...common, priority: 10, suspend: false, runMs: random.int(1_000, 30_000) });
  const { only: _, ...anywhere } = urgent;
  const spec = { preemption: { withinQueue: "LowerPriority" as const } };
  return [{ at: 1_000, do: "queue", name: "lab", spec }, ...filling, { at, do: "submit", job: anywhere }];
}

export const SITUATIONS: Readonly<Record<string, Situation>> = {
  /** A Job takes the room of another while something goes wrong with those who see to it. */
  displaced: (draw) => {
    const { random } = draw;
    const at = START_MS + random.int(8_000, 40_000);
    const soon = (): number => at + random.int(0, 12_000);
    const strikes = random.pick<Step[]>([
      [],
      ["m1", "m2"].map((program) => ({ at: soon(), do: "kill", program, ms: random.int(0, 8_000) })),
      [{ at: soon(), do: "kill", program: "agent of j0", ms: draw.duration() }],
      [{ at: soon(), do: "cut", program: "agent of j0", ms: draw.duration(), told: random.chance(0.5) }],
      [{ at: soon(), do: "freeze", program: random.pick(["m1", "m2", "agent of j0"]), ms: draw.duration() }],
      [{ at: soon(), do: "flush" }],
      [{ at, do: "fail over at hand-over", ms: 60_000, delayMs: random.int(0, 1_500), lossMs: random.int(50, 3_000) }],
      [{ at: soon(), do: "drain", cluster: "cluster of j0", ms: random.int(200, 40_000) }],
      [{ at: soon(), do: "delete", name: random.pick(["j0", "urgent"]), propagation: "Foreground" }],
      [{ at: soon(), do: "edit", name: "j0", spec: { suspend: true } }],
    ]);
    const names = ["j0", "urgent"];
    const kinds = random.shuffled(Object.values(FAULTS)).slice(0, random.int(0, 2));
    return [...displacement(draw, at), ...strikes, ...kinds.flatMap((fault) => fault({ ...draw, names }, soon()))];
  },

  /** A cluster is away until its Job has moved, hears old news, and comes back. */
  "return to old news": (draw) => {
    const { random } = draw;
    const lostAt = START_MS + random.int(2_000, 30_000);
    const awayMs = movedAfterMs(draw) + random.int(0, draw.lostAfterMs);
    const steps: Step[] = [
      long(draw, "j0", random.pick(["StopThenRedispatch", "StopThenRedispatch", "Redispatch"])),
      { at: lostAt, do: "cut", program: "agent of j0", ms: awayMs, told: random.chance(0.5) },
    ];
    if (random.chance(0.8)) steps.push(...prompt(draw, lostAt + random.int(1_000, 40_000), "j0"));
    if (random.chance(0.5)) {
      const ms = random.int(500, awayMs - 1_000);
      const agent = { do: "kill", program: "agent that lost j0", ms } as const;
      steps.push({ at: lostAt + awayMs - ms + random.int(-500, 2_000), ...agent });
    }
    return steps;
  },

  /** A hand-over whose last words are lost, and a drain that is undone. */
  "lost last words": (draw) => {
    const { random } = draw;
    const at = START_MS + random.int(2_000, 40_000);
    const drainMs = random.int(200, 40_000);
    const delayMs = random.int(0, 1_500);
    return [
      long(draw, "j0", random.pick(POLICIES), { runMs: random.int(2_000, 60_000) }),
      long(draw, "j1", random.pick(POLICIES)),
      { at, do: "drain", cluster: "cluster of j0", ms: drainMs },
      ...["m1", "m2"].map(
        (program): Step => ({ at, do: "slow redis", program, ms: 60_000, lagMs: random.int(300, 2_500) }),
      ),
      { at, do: "fail over at hand-over", ms: 60_000, delayMs, lossMs: delayMs + random.int(50, 1_500) },
      ...(random.chance(0.3) ? [{ at: at + drainMs + random.int(0, 5_000), do: "flush" } as const] : []),
    ];
  },

  /** The policy goes to and fro, then the cluster is lost. */
  "policy to and fro": (draw) => {
    const { random } = draw;
    const flips: Step[] = [];
    let at = START_MS + random.int(1_000, 10_000);
    const ofQueue = random.chance(0.5);
    for (const policy of [random.pick(["Redispatch", "Wait"]), "StopThenRedispatch"]) {
      flips.push(ofQueue ? { at, do: "queue policy", policy } : { at, do: "policy", name: "j0", policy });
      at += random.int(50, 20_000);
    }
    const job = long(draw, "j0", "StopThenRedispatch", { runMs: 250_000 });
    const unmarked = job.do === "submit" ? { ...job.job, policy: "" } : undefined;
    return [
      ...(ofQueue ? [{ at: 1_000, do: "queue policy", policy: "StopThenRedispatch" } as const] : []),
      ofQueue && unmarked !== undefined ? { at: START_MS, do: "submit", job: unmarked } : job,
      ...flips,
      {
        at: at + random.int(0, 5_000),
        do: "cut",
        program: "agent of j0",
        ms: movedAfterMs(draw) + random.int(0, 60_000),
        told: true,
      },
    ];
  },

  /** Manager and agent start in the same second, while the hub's lists are slow and an old delivery waits. */
  "all start at once": (draw) => {
    const { random } = draw;
    const lostAt = START_MS + random.int(1_000, 8_000);
    const backAt = lostAt + movedAfterMs(draw) + random.int(0, 60_000);
    const around = (): number => backAt + random.int(0, 1_500);
    return [
      long(draw, "j0", random.pick(["Redispatch", "StopThenRedispatch"]), { runMs: random.int(5_000, 20_000) }),
      long(draw, "j1", "Wait"),
      { at: lostAt, do: "kill", program: "agent of j0", ms: backAt - lostAt },
      ...prompt(draw, lostAt + random.int(100, 20_000), "j0"),
      {
        at: backAt - 1_000,
        do: "slow lists",
        cluster: "hub",
        plural: "jobs",
        share: 1,
        ms: 20_000,
        lagMs: random.int(1_000, 15_000),
      },
      ...["m1", "m2"].map((program): Step => ({ at: around(), do: "kill", program, ms: random.int(0, 1_000) })),
    ];
  },

  /** The cluster is told to let go before its agent has seen what it created. */
  "let go at once": (draw) => {
    const { random } = draw;
    const lag = { plural: "jobs", share: 0.5, ms: 20_000, lagMs: random.int(1_000, 10_000) };
    const at = START_MS + random.int(100, 2_000);
    return [
      ...draw.clusters.map((cluster): Step => ({ at: START_MS - 500, do: "slow watches", cluster, ...lag })),
      long(draw, "j0", random.pick(["Wait", "StopThenRedispatch"])),
      random.chance(0.6)
        ? { at, do: "drain", cluster: "cluster of j0", ms: random.int(5_000, 60_000) }
        : { at, do: "delete", name: "j0", propagation: random.pick(["Background", "Foreground"]) },
    ];
  },

  /** A refusal is on its way while an edit makes the manager deliver again. */
  "refusal crosses an edit": (draw) => {
    const { random } = draw;
    const lagMs = random.int(300, 2_000);
    // Redis rings and then hands out: the Job is placed, and the refusal is read, two such delays later each.
    const refusedAt = START_MS + 2 * lagMs + 60;
    const ms = 1_000 + 2 * lagMs + random.int(100, 400);
    return [
      ...draw.clusters.map((cluster): Step => ({ at: START_MS - 1_000, do: "occupy name", name: "j0", cluster, ms })),
      ...["m1", "m2"].map((program): Step => ({ at: START_MS - 200, do: "slow redis", program, ms: 15_000, lagMs })),
      long(draw, "j0", random.pick(["Wait", "StopThenRedispatch"])),
      { at: refusedAt + random.int(0, 2 * lagMs), do: "edit", name: "j0", spec: { parallelism: 3 } },
      { at: refusedAt + random.int(0, 2 * lagMs), do: "edit", name: "j0", spec: { parallelism: 2 } },
    ];
  },

  /** Every cluster refuses for a while, for one reason or another. */
  "refused everywhere": (draw) => [
    ...draw.clusters.map(
      (cluster): Step =>
        draw.random.chance(0.5)
          ? { at: START_MS - 500, do: "occupy name", name: "j0", cluster, ms: draw.random.int(1_500, 90_000) }
          : {
              at: START_MS - 500,
              do: "api errors",
              cluster,
              ms: draw.random.int(1_500, 90_000),
              effects: ["quota"],
              chance: 1,
            },
    ),
    long(draw, "j0", draw.random.pick(POLICIES), { runMs: 5_000 }),
    long(draw, "j1", draw.random.pick(POLICIES), { runMs: 5_000 }),
  ],

  /** A machine sleeps until its Job has moved, and wakes without Redis. */
  "asleep and alone": (draw) => {
    const { random } = draw;
    const at = START_MS + random.int(2_000, 30_000);
    const ms = movedAfterMs(draw) + random.int(0, 60_000);
    return [
      long(draw, "j0", "StopThenRedispatch", { runMs: 250_000 }),
      { at, do: "sleep", program: "agent of j0", ms },
      {
        at: at + 1_000,
        do: "cut",
        program: "agent of j0",
        ms: ms + random.int(5_000, 90_000),
        told: random.chance(0.5),
      },
    ];
  },

  /** An assignment is stored and not answered, and its cluster is lost before it says a word. */
  "lost before its first word": (draw) => {
    const { random } = draw;
    const effects = random.shuffled(["cut-though-applied", "409", "hang-though-applied"] as const).slice(0, 2);
    return [
      { at: START_MS - 500, do: "api errors", cluster: "hub", ms: 4_000, effects, chance: random.pick([0.5, 0.9]) },
      long(draw, "j0", "Redispatch", { runMs: 20_000 }),
      long(draw, "j1", "Redispatch", { runMs: 20_000 }),
      { at: START_MS + random.int(30, 600), do: "kill", program: "agent of j0", ms: 3 * draw.lostAfterMs },
    ];
  },

  /** The hub's watch is far behind, and everybody writes. */
  "edits behind a slow watch": (draw) => {
    const { random } = draw;
    const edits = Array.from(
      { length: random.int(3, 10) },
      (): Step => ({
        at: START_MS + random.int(0, 15_000),
        do: "edit",
        name: random.pick(["j0", "j1"]),
        spec: random.chance(0.5) ? { parallelism: random.int(1, 4) } : { suspend: random.chance(0.5) },
      }),
    );
    return [
      {
        at: START_MS - 500,
        do: "slow watches",
        cluster: "hub",
        plural: "jobs",
        share: 1,
        ms: 20_000,
        lagMs: random.int(2_000, 15_000),
      },
      long(draw, "j0", random.pick(POLICIES), { runMs: 8_000 }),
      long(draw, "j1", random.pick(POLICIES), { runMs: 8_000 }),
      ...edits,
      ...(random.chance(0.5)
        ? [{ at: START_MS + random.int(0, 9_000), do: "drain", cluster: "cluster of j0", ms: 9_000 } as const]
        : []),
    ];
  },

  /** A mirror goes, somebody takes its name, and the agent does not know yet. */
  "a stranger in its place": (draw) => {
    const { random } = draw;
    const at = START_MS + random.int(3_000, 20_000);
    const slow = { plural: "jobs", share: 0.7, ms: 10_000, lagMs: random.int(100, 5_000) };
    return [
      long(draw, "j0", random.pick(POLICIES)),
      { at: at - 500, do: "slow watches", cluster: "cluster of j0", ...slow },
      { at, do: "delete mirror", name: "j0", cluster: "cluster of j0" },
      { at: at + 1, do: "occupy name", name: "j0", cluster: "cluster of j0", ms: random.int(5_000, 60_000) },
      { at: at + random.int(0, 100), do: "edit", name: "j0", spec: { parallelism: 1 } },
      { at: at + random.int(0, 2_000), do: "edit", name: "j0", spec: { suspend: random.chance(0.5) } },
    ];
  },

  /** An agent dies while it makes a mirror, and what it says afterwards is lost. */
  "half a mirror": (draw) => {
    const { random } = draw;
    const at = START_MS + random.int(3_000, 20_000);
    const then = at + random.int(300, 30_000);
    return [
      long(draw, "j0", random.pick(POLICIES), { runMs: random.int(3_000, 30_000) }),
      { at, do: "drain", cluster: "cluster of j0", ms: 60_000 },
      ...draw.clusters.map(
        (cluster): Step => ({
          at,
          do: "api errors",
          cluster,
          ms: 30_000,
          effects: ["cut-though-applied", "hang-though-applied"],
          chance: random.pick([0.2, 0.5]),
        }),
      ),
      { at: then, do: "kill", program: "agent of j0", ms: random.int(100, 2_000) },
      { at: then + random.int(500, 3_000), do: "fail over", lossMs: random.int(500, 2_500), replicaMs: 0 },
    ];
  },
};
