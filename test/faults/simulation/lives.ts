/** Lives of a Job, without chance in them: what is struck at every write. */
import type { Plan } from "./plan.ts";
import type { PlannedJob, Step } from "./steps.ts";
import type { WorldOptions } from "./world.ts";

const START_MS = 9_000;
const at = (ms: number): number => START_MS + ms;
const submit = (over: Partial<PlannedJob> = {}): Step => ({
  at: START_MS,
  do: "submit",
  job: {
    ...{ name: "j0", kind: "indexed", policy: "StopThenRedispatch", completions: 3, parallelism: 2, suspend: false },
    ...{ runMs: 6_000, stopMs: 500 },
    ...over,
  },
});
const edit = (ms: number, spec: object): Step => ({ at: at(ms), do: "edit", name: "j0", spec });
const drain = (ms: number, lastsMs: number): Step => ({
  at: at(ms),
  do: "drain",
  cluster: "cluster of j0",
  ms: lastsMs,
});
const remove = (ms: number, propagation: "Foreground" | "Background"): Step => ({
  at: at(ms),
  do: "delete",
  name: "j0",
  propagation,
});

const WORLD: WorldOptions = { seed: 7, workers: ["east", "west"], planned: [], lostAfterSeconds: 60, maxLagMs: 5 };
const life = (steps: readonly Step[], world: Partial<WorldOptions> = {}): Plan => ({
  world: { ...WORLD, ...world },
  kinds: ["every write"],
  steps: steps.toSorted((one, other) => one.at - other.at),
});

export const LIVES: Readonly<Record<string, Plan>> = {
  "submitted, edited, finished": life([submit(), edit(3_000, { parallelism: 3 })]),
  "failing, with a back-off": life([submit({ kind: "failing", completions: 1, parallelism: 1, runMs: 1_000 })]),
  "suspended and resumed": life([submit(), edit(2_000, { suspend: true }), edit(9_000, { suspend: false })]),
  scaled: life([
    submit(),
    edit(1_000, { parallelism: 4, completions: 4 }),
    edit(8_000, { parallelism: 2, completions: 2 }),
  ]),
  deleted: life([submit(), remove(8_000, "Foreground")]),
  "deleted, and submitted again": life([submit(), remove(4_000, "Background"), { ...submit(), at: at(7_000) }]),
  "drained, moved, and the drain undone": life([submit(), drain(8_000, 20_000)]),
  "asked back, and the drain undone at once": life([submit({ stopMs: 4_000 }), drain(3_000, 1_500)]),
  "lost and moved": life([submit(), { at: at(3_000), do: "cut", program: "agent of j0", ms: 150_000, told: false }]),
  "displaced by a more important one": life([
    { at: 1_000, do: "queue", name: "lab", spec: { preemption: { withinQueue: "LowerPriority" } } },
    submit({ queue: "lab", cpu: 30, only: "east" }),
    { ...submit({ name: "j1", queue: "lab", cpu: 30, only: "east", priority: 10 }), at: at(8_000) },
  ]),
  "refused, then taken": life([
    ...WORLD.workers.map(
      (cluster): Step => ({ at: START_MS - 500, do: "occupy name", name: "j0", cluster, ms: 3_000 }),
    ),
    submit({ runMs: 2_000 }),
  ]),
  "put back to before it moved": life([
    submit({ runMs: 12_000 }),
    { at: at(3_000), do: "back up hub" },
    drain(4_000, 8_000),
    { at: at(16_000), do: "restore hub", bump: 0, cordonMs: 60_000 },
  ]),
  "shown with its pods": life([submit({ runMs: 3_000 }), edit(2_000, { parallelism: 3 })], { shadows: true }),
  "shown, drained and deleted": life([submit(), drain(3_000, 10_000), remove(14_000, "Foreground")], {
    shadows: true,
  }),
  "sent with a ConfigMap, and moved": life([submit({ reads: true }), drain(8_000, 20_000)], { copies: true }),
};
