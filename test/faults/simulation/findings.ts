/**
 * Situations that once broke a rule, each as small as it can be and without chance in it. `comesAbout`: lines that the trace must
 * have, or the run did not show what it is about. `never`: lines that it must not have.
 */
import type { Plan } from "./plan.ts";
import type { Result } from "./run.ts";
import type { FaultStep, PlannedJob, Step } from "./steps.ts";
import type { WorldOptions } from "./world.ts";

export interface Finding {
  readonly name: string;
  readonly world?: Partial<WorldOptions>;
  /** Each is a run of its own. */
  readonly variants: readonly (readonly Step[])[];
  readonly comesAbout: readonly RegExp[];
  readonly never?: RegExp;
}

const START_MS = 9_000;
const MOVED = /j0 belongs to \w+, epoch 2/;
const PLACED = /j0 belongs to \w+, epoch 1/;
const BOTH = ["east", "west"] as const;
const MANAGERS = ["m1", "m2"] as const;

const submit = (over: Partial<PlannedJob> = {}): Step => ({
  at: START_MS,
  do: "submit",
  job: {
    name: "j0",
    kind: "indexed",
    policy: "Redispatch",
    completions: 4,
    parallelism: 4,
    runMs: 60_000,
    stopMs: 2_000,
    suspend: false,
    ...over,
  },
});
const after = (ms: number, fault: FaultStep): Step => ({ at: START_MS + ms, ...fault });
const edit = (ms: number, spec: object): Step => ({ at: START_MS + ms, do: "edit", name: "j0", spec });
/** The agent's watch is late while somebody deletes the mirror and gives a Job of their own its name. */
const STRANGER_TAKES_THE_NAME: readonly Step[] = [
  after(5_500, {
    do: "slow watches",
    cluster: "cluster of j0",
    plural: "jobs",
    share: 1,
    ms: 10_000,
    lagMs: 4_000,
  }),
  { at: START_MS + 6_000, do: "delete mirror", name: "j0", cluster: "cluster of j0" },
  { at: START_MS + 6_001, do: "occupy name", name: "j0", cluster: "cluster of j0", ms: 30_000 },
];
const drain = (ms: number, lastsMs: number): Step => ({
  at: START_MS + ms,
  do: "drain",
  cluster: "cluster of j0",
  ms: lastsMs,
});
const agent = "agent of j0";
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** What puts a message about the Job into its cluster's queue, while that cluster does not take it. */
const PROMPTS: readonly (readonly Step[])[] = [
  [],
  [edit(7_000, { parallelism: 3 })],
  MANAGERS.map((program) => after(7_000, { do: "kill", program, ms: 500 })),
  MANAGERS.map((program) => after(7_000, { do: "cut", program, ms: 1_000, told: true })),
];

/** The hub's etcd is put back to a backup, without and with a revision that was moved on. */
const restored = (steps: (restore: (ms: number) => Step) => Step[]): Step[][] =>
  [0, 1_000_000].map((bump) => steps((ms) => after(ms, { do: "restore hub", bump })));
const backup = (ms: number): Step => after(ms, { do: "back up hub" });
const RESTORED = /hub restored/;

const RESTORES: readonly Finding[] = [
  {
    name: "F5 a hub that was restored adopts a mirror of a later epoch, and its Job ends there",
    variants: restored((restore) => [
      submit({ runMs: 120_000 }),
      backup(3_000),
      drain(5_000, 15_000),
      drain(25_000, 15_000),
      restore(60_000),
    ]),
    comesAbout: [/j0 belongs to \w+, epoch 3/, RESTORED],
    never: /hub restored[\s\S]*pod j0-\S+ Pending/,
  },
  {
    name: "F5 a Job that was assigned after the backup is not run by two clusters",
    variants: restored((restore) => [
      submit({ runMs: 100_000, suspend: true, policy: "Wait" }),
      backup(2_000),
      edit(4_000, { suspend: false }),
      restore(30_000),
      edit(50_000, { suspend: false }),
    ]),
    comesAbout: [/mirror of j0, epoch 1, comes[\s\S]*hub restored/],
  },
  {
    name: "F5 a Job that has moved to another cluster since the backup runs on one at a time, where the clusters were cordoned",
    variants: (["Wait", "StopThenRedispatch"] as const).flatMap((policy) =>
      [0, 1_000_000].map((bump) => [
        submit({ runMs: 120_000, policy }),
        backup(3_000),
        drain(5_000, 15_000),
        after(30_000, { do: "restore hub", bump, cordonMs: 60_000 }),
      ]),
    ),
    comesAbout: [/epoch 2[\s\S]*hub restored[\s\S]*j0 belongs to \w+, epoch 3/],
    never: /hub restored[\s\S]*j0 belongs to \w+, epoch 2/,
  },
  {
    name: "F5 a Job that finished after the backup, and whose mirror is gone, is not stuck",
    variants: restored((restore) => [submit({ runMs: 8_000 }), backup(3_000), restore(60_000)]),
    comesAbout: [/mirror of j0, epoch 1, is gone[\s\S]*hub restored/],
  },
  {
    name: "F5 a Job that finished after the backup, and whose mirror is still there, does not run again",
    variants: restored((restore) => [submit({ runMs: 8_000 }), backup(3_000), restore(9_000)]),
    comesAbout: [RESTORED],
    never: /hub restored[\s\S]*pod j0-\S+ Pending/,
  },
  {
    name: "F5 a Job that the backup does not know leaves its cluster, and a new one of its name runs",
    variants: restored((restore) => [
      backup(-3_000),
      submit({ runMs: 60_000 }),
      restore(20_000),
      { ...submit({ runMs: 10_000 }), at: START_MS + 30_000 },
    ]),
    comesAbout: [/comes[\s\S]*hub restored[\s\S]*mirror of j0, epoch 1, comes/],
  },
  {
    name: "F5 a running Job can be deleted after the restore",
    variants: restored((restore) => [
      submit({ runMs: 600_000 }),
      backup(3_000),
      edit(5_000, { parallelism: 2 }),
      restore(20_000),
      { at: START_MS + 40_000, do: "delete", name: "j0", propagation: "Background" },
    ]),
    comesAbout: [RESTORED, /mirror of j0, epoch 1, is gone/],
  },
];

export const FINDINGS: readonly Finding[] = [
  ...RESTORES,
  {
    name: "F1 a StopThenRedispatch Job runs on one cluster when the other returns to deliveries that waited for it",
    variants: PROMPTS.flatMap((prompt) => {
      const away = [
        submit({ policy: "StopThenRedispatch", runMs: 210_000 }),
        after(6_000, { do: "cut", program: agent, ms: 179_000, told: false }),
        ...prompt,
      ];
      return [away, [...away, after(170_000, { do: "kill", program: "agent that lost j0", ms: 16_000 })]];
    }),
    comesAbout: [MOVED],
  },
  {
    name: "F2 a withdrawal that Redis loses is said again after the drain was undone",
    variants: upTo(8).map((step) => [
      submit({ runMs: 50_000 }),
      drain(6_000, 4_200),
      ...MANAGERS.map((program) => after(6_000, { do: "slow redis", program, ms: 60_000, lagMs: 1_900 })),
      after(6_500 + 500 * step, { do: "fail over", lossMs: 1_500, replicaMs: 0 }),
    ]),
    comesAbout: [/east is drained|west is drained/, /changes of Redis are lost/],
  },
  {
    name: "F3 a finished Job does not run again when managers and its old agent start together, and lists are slow",
    variants: [1_000, 6_000, 14_000].map((lagMs) => [
      submit({ runMs: 15_000 }),
      after(5_000, { do: "kill", program: agent, ms: 180_000 }),
      edit(10_000, { parallelism: 3 }),
      after(184_000, { do: "slow lists", cluster: "hub", plural: "jobs", share: 1, ms: 20_000, lagMs }),
      ...MANAGERS.map((program) => after(185_000, { do: "kill", program, ms: 200 })),
    ]),
    comesAbout: [MOVED],
  },
  {
    name: "F4 a Job whose assignment was stored but not answered leaves its cluster when that is lost before its first word",
    variants: upTo(6).map((step) => [
      after(-500, { do: "api errors", cluster: "hub", ms: 4_000, effects: ["cut-though-applied"], chance: 0.9 }),
      submit({ runMs: 20_000 }),
      after(30 + 60 * step, { do: "kill", program: "agent-east", ms: 200_000 }),
    ]),
    comesAbout: [/cut-though-applied/],
  },
  {
    name: "F7 completed indexes do not run again when Redis loses the last words of a hand-over",
    variants: upTo(10).map((step) => [
      submit({ parallelism: 1, runMs: 4_000, stopMs: 500 }),
      drain(11_000, 60_000),
      ...MANAGERS.map((program) => after(11_400, { do: "slow redis", program, ms: 10_000, lagMs: 600 })),
      after(11_400 + 200 * step, { do: "fail over", lossMs: 1_500, replicaMs: 0 }),
    ]),
    comesAbout: [MOVED, /[1-9]\d* changes of Redis are lost/],
  },
  {
    name: "F8 a mirror that the agent's watch has not shown yet is not taken for absent when it is asked back or deleted",
    // The agent has two watches of Jobs. The one that shows mirrors is late in some of these, and the Job controller's is not.
    variants: (["Wait", "StopThenRedispatch", "Wait", "StopThenRedispatch", "Wait", "Wait"] as const).flatMap(
      (policy) => {
        const late = [
          ...BOTH.map((cluster) =>
            after(-500, { do: "slow watches", cluster, plural: "jobs", share: 0.5, ms: 20_000, lagMs: 8_000 }),
          ),
          submit({ policy }),
        ];
        return [
          [...late, drain(150, 30_000)],
          [...late, { at: START_MS + 150, do: "delete", name: "j0", propagation: "Background" }],
        ];
      },
    ),
    comesAbout: [/mirror of j0, epoch 1, comes/],
  },
  {
    name: "F8 a refusal that crosses an edit does not leave a mirror behind",
    variants: upTo(6).map((step) => [
      ...BOTH.map((cluster): Step => ({ at: START_MS - 1_000, do: "occupy name", name: "j0", cluster, ms: 5_200 })),
      ...MANAGERS.map((program) => after(-200, { do: "slow redis", program, ms: 15_000, lagMs: 1_000 })),
      submit({ policy: "StopThenRedispatch" }),
      edit(2_060 + 300 * step, { parallelism: 3 }),
    ]),
    comesAbout: [/j0 belongs to nobody/],
  },
  {
    name: "F9 an agent that was dead starts no pod of a Job that has finished elsewhere",
    variants: [150_000, 200_000, 270_000].map((ms) => [
      submit({ parallelism: 1, runMs: 10_000 }),
      after(5_000, { do: "kill", program: agent, ms }),
    ]),
    comesAbout: [MOVED],
  },
  {
    name: "F10 a Job whose policy went to and fro stops before it runs elsewhere",
    variants: (["Wait", "Redispatch"] as const).map((policy) => [
      { at: 1_000, do: "queue policy", policy: "StopThenRedispatch" },
      submit({ policy: "", runMs: 250_000 }),
      { at: START_MS + 2_000, do: "queue policy", policy },
      edit(3_000, { parallelism: 3 }),
      { at: START_MS + 5_000, do: "queue policy", policy: "StopThenRedispatch" },
      after(8_000, { do: "cut", program: agent, ms: 200_000, told: true }),
    ]),
    comesAbout: [MOVED],
  },
  {
    name: "F11 a cluster that was never heard does not freeze the loss of another",
    world: { planned: ["south"] },
    variants: [[submit({ runMs: 30_000 }), after(5_000, { do: "kill", program: agent, ms: 300_000 })]],
    comesAbout: [MOVED],
  },
  {
    name: "F11 a second cluster is lost although the first one is lost already",
    world: { workers: ["east", "west", "north"] },
    variants: [
      [
        submit({ runMs: 300_000 }),
        after(5_000, { do: "kill", program: agent, ms: 500_000 }),
        after(150_000, { do: "kill", program: agent, ms: 300_000 }),
      ],
    ],
    comesAbout: [MOVED, /j0 belongs to \w+, epoch 3/],
  },
  {
    name: "a shard of Redis that is away for longer than lostAfter moves no Job of its clusters, and holds up no other loss",
    world: { workers: ["east", "west", "north"] },
    variants: (["Redispatch", "StopThenRedispatch"] as const).flatMap((policy) =>
      [false, true].map((empty) => [
        submit({ runMs: 300_000, policy }),
        after(5_000, { do: "shard away", cluster: "cluster of j0", ms: 250_000, empty }),
        { ...submit({ name: "j1", runMs: 100_000 }), at: START_MS + 40_000 },
        after(50_000, { do: "kill", program: "agent of j1", ms: 200_000 }),
      ]),
    ),
    comesAbout: [PLACED, /j1 belongs to \w+, epoch 2/],
    never: MOVED,
  },
  {
    name: "M3 nothing is moved when all clusters are silent at once, for longer than lostAfter",
    variants: [
      [
        submit({ runMs: 300_000 }),
        ...BOTH.map((name) => after(5_000, { do: "cut", program: `agent-${name}`, ms: 200_000, told: false })),
      ],
      [
        submit({ runMs: 300_000 }),
        ...BOTH.map((name) => after(5_000, { do: "freeze", program: `agent-${name}`, ms: 200_000 })),
      ],
    ],
    comesAbout: [PLACED],
    never: MOVED,
  },
  {
    name: "M4 time in which the managers could not reach Redis is not counted as a cluster's silence",
    world: { workers: ["east", "west", "north"] },
    variants: [
      [
        submit({ runMs: 300_000 }),
        ...MANAGERS.map((program) => after(5_000, { do: "cut", program, ms: 200_000, told: true })),
        after(190_000, { do: "kill", program: agent, ms: 50_000 }),
      ],
    ],
    comesAbout: [PLACED],
    never: MOVED,
  },
  {
    name: "M13 a write of the hub that comes late changes nothing that was decided since",
    variants: upTo(6).map((step) => [
      after(-500, { do: "api errors", cluster: "hub", ms: 700 + 100 * step, effects: ["late"], chance: 1 }),
      submit({ runMs: 60_000 }),
      drain(12_000, 15_000),
    ]),
    comesAbout: [/patch jobs\/j0: late/, MOVED],
  },
  {
    name: "F12 two agents of one cluster never run a Job twice, whichever is killed, frozen, put to sleep or told to end",
    world: { twins: BOTH },
    variants: [
      [],
      ...(["freeze", "sleep"] as const).flatMap((what) =>
        [3_000, 9_000, 14_000, 40_000].map((ms) =>
          BOTH.flatMap((cluster) => [
            after(3_000, { do: what, program: `agent-${cluster}`, ms }),
            after(4_500, { do: what, program: `twin-${cluster}`, ms: ms / 2 }),
          ]),
        ),
      ),
      BOTH.map((cluster) => after(3_000, { do: "terminate", program: `agent-${cluster}` })),
      BOTH.map((cluster) => after(3_000, { do: "kill", program: `agent-${cluster}`, ms: 30_000 })),
      BOTH.map((cluster) => after(3_000, { do: "api restart", cluster, ms: 25_000 })),
    ].map((faults) => [
      submit({ runMs: 15_000 }),
      edit(3_500, { parallelism: 2 }),
      edit(20_000, { parallelism: 4 }),
      ...faults,
    ]),
    comesAbout: [PLACED, /agent-east works|twin-east works/],
  },
  {
    name: "F12 an agent that goes on after its twin took over starts no pod that it had decided on",
    world: { twins: BOTH },
    variants: (["freeze", "sleep"] as const).flatMap((what) =>
      [5_500, 5_950, 5_990].map((ms) => [
        submit({ parallelism: 1, runMs: 6_000 }),
        ...BOTH.map((cluster) => after(ms, { do: what, program: `agent-${cluster}`, ms: 24_000 })),
      ]),
    ),
    comesAbout: [/agent-east works/, /twin-east works/],
  },
  {
    name: "F13 a Job that every cluster refused runs once one of them would take it",
    variants: [5_000, 20_000, 60_000].map((ms) => [
      ...BOTH.map((cluster) => after(-500, { do: "api errors", cluster, ms, effects: ["quota"], chance: 1 })),
      submit({ runMs: 5_000 }),
    ]),
    comesAbout: [/create jobs\/j0: quota/],
  },
  ...[-3_600_000, 3_600_000].map(
    (offsetMs): Finding => ({
      name: `F15 a Job that moves between clocks ${offsetMs / 60_000} minutes apart keeps its deadline`,
      world: {
        clocks: Object.fromEntries(["east", "agent-east"].map((name) => [name, { offsetMs, drift: 0 }])),
      },
      variants: [[submit({ parallelism: 1, runMs: 20_000, deadlineSeconds: 1_800 }), drain(25_000, 30_000)]],
      comesAbout: [MOVED],
    }),
  ),
  {
    name: "F15 a machine that slept until its Job moved, and wakes without Redis, stops it at once",
    variants: [
      [
        submit({ policy: "StopThenRedispatch", runMs: 250_000 }),
        after(5_000, { do: "sleep", program: agent, ms: 130_000 }),
        after(6_000, { do: "cut", program: agent, ms: 190_000, told: false }),
      ],
    ],
    comesAbout: [MOVED],
  },
  {
    name: "F16 nobody writes in a hot loop while the hub's watch is late",
    variants: [5_000, 15_000].map((lagMs) => [
      after(-500, { do: "slow watches", cluster: "hub", plural: "jobs", share: 1, ms: 20_000, lagMs }),
      submit({ runMs: 8_000 }),
      ...upTo(6).map((step) => edit(500 + 900 * step, { parallelism: 1 + (step % 4) })),
    ]),
    comesAbout: [PLACED],
  },
  {
    name: "F17 a stranger's Job that has taken a mirror's name is not changed",
    variants: [1, 30, 80, 500].map((ms) => [
      submit(),
      ...STRANGER_TAKES_THE_NAME,
      edit(6_000 + ms, { parallelism: 1 }),
    ]),
    comesAbout: [/agent-\w+ patch jobs\/j0|agent-\w+ create jobs\/j0/],
  },
  {
    name: "F18 a Job that fits nowhere else stays with its lost cluster, and what it achieved with it",
    variants: [
      [
        submit({ only: "east", runMs: 200_000 }),
        after(5_000, { do: "cut", program: "agent-east", ms: 150_000, told: false }),
      ],
    ],
    comesAbout: [/j0 belongs to east, epoch 1/],
    never: MOVED,
  },
  {
    name: "a Job that waits for its lost cluster is not moved (Wait)",
    variants: [
      [submit({ policy: "Wait", runMs: 20_000 }), after(5_000, { do: "kill", program: agent, ms: 200_000 })],
      [
        { at: 1_000, do: "queue policy", policy: "Wait" },
        submit({ policy: "", runMs: 20_000 }),
        after(5_000, { do: "cut", program: agent, ms: 200_000, told: false }),
      ],
    ],
    comesAbout: [PLACED],
    never: MOVED,
  },
  {
    name: "F17 a stranger's Job that has taken the name of a mirror that is to be deleted is not deleted",
    variants: [1, 30, 500].map((ms) => [
      submit(),
      ...STRANGER_TAKES_THE_NAME,
      { at: START_MS + 6_001 + ms, do: "delete", name: "j0", propagation: "Background" },
    ]),
    comesAbout: [/agent-\w+ delete jobs\/j0/],
  },
  {
    name: "F20 a mirror whose agent died while it was made is finished by the next one, although Redis lost its greeting",
    variants: upTo(5).map((step) => [
      submit({ parallelism: 1, runMs: 5_000 }),
      drain(12_000, 60_000),
      ...BOTH.map((cluster) =>
        after(12_000, { do: "api errors", cluster, ms: 6_000, effects: ["hang-though-applied"], chance: 0.5 }),
      ),
      after(13_000 + 400 * step, { do: "kill", program: agent, ms: 300 }),
      after(14_500 + 400 * step, { do: "fail over", lossMs: 2_000, replicaMs: 0 }),
    ]),
    comesAbout: [MOVED],
  },
];

export const planOfFinding = ({ name, world, variants }: Finding, index: number): Plan => ({
  world: { seed: index + 1, workers: BOTH, planned: [], lostAfterSeconds: 60, maxLagMs: 5, ...world },
  kinds: [name],
  steps: (variants[index] ?? []).toSorted((a, b) => a.at - b.at),
});

/** What a run of the finding shows that it should not; undefined when all is well. */
export function whatIsWrong(
  { comesAbout, never }: Finding,
  { violations: [first], trace }: Result,
): string | undefined {
  if (first !== undefined) return `${first.rule}: ${first.about}: ${first.what}`;
  const told = trace.join("\n");
  const missing = comesAbout.find((line) => !line.test(told));
  if (missing !== undefined) return `it did not come about: ${missing}`;
  return never?.test(told) === true ? `it came about: ${never}` : undefined;
}
