/**
 * What it costs that a ConfigMap travels with a Job. `npm run bench:references` takes about three minutes and writes
 * docs/bench/references.md.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { configMaps } from "@jobferry/shared/kube/resources.ts";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { sum } from "../job-controller/figures.ts";
import { type Cost, percentile, split, without } from "./figures.ts";
import { BenchFleet } from "./fleet.ts";
import { round } from "./goals.ts";
import { PodWatch } from "./pods.ts";
import { NAMESPACE, Submitter } from "./work.ts";

const MAP = "shared";
const GOAL_MS = 15;

interface Turn {
  readonly load: number;
  /** Create to pod, in ms; each Job with the ConfigMap beside one without. */
  readonly plain: readonly number[];
  readonly referring: readonly number[];
  readonly plainCost: Cost;
  readonly referringCost: Cost;
}

/** Jobs one after the other, with and without by turns, so that what else the machine does meets both. */
async function pairs(fleet: BenchFleet, hub: Submitter, count: number): Promise<Pick<Turn, "plain" | "referring">> {
  const watch = new PodWatch(fleet.workers.map(({ api }) => api));
  await watch.ready();
  const times: Record<"plain" | "referring", number[]> = { plain: [], referring: [] };
  const run = async (kind: keyof typeof times): Promise<void> => {
    const name = Submitter.newName();
    const complete = hub.complete(name);
    const began = performance.now();
    await hub.create(name, kind === "plain" ? undefined : MAP);
    await complete;
    const toPod = watch.seenAt(name) - began;
    // The watch of this program may lag behind the end of the Job.
    if (Number.isFinite(toPod)) times[kind].push(toPod);
  };
  try {
    for (let pair = 0; pair < count; pair++)
      for (const kind of pair % 2 === 0 ? (["plain", "referring"] as const) : (["referring", "plain"] as const))
        await run(kind);
  } finally {
    await watch.close();
  }
  return times;
}

/** What some Jobs of one sort cost everybody. */
const costOf = (fleet: BenchFleet, hub: Submitter, count: number, map?: string): Promise<Cost> =>
  fleet.measure(count, async () => {
    const names = Array.from({ length: count }, () => Submitter.newName());
    for (const name of names) {
      const complete = hub.complete(name);
      await hub.create(name, map);
      await complete;
    }
    return 0;
  });

async function measure(rounds: number, count: number): Promise<{ turns: Turn[]; kubernetes: string }> {
  const fleet = new BenchFleet(["east", "west"]);
  const turns: Turn[] = [];
  try {
    await fleet.start();
    await fleet.real.hub.api.create(configMaps, NAMESPACE, { metadata: { name: MAP }, data: { greeting: "hello" } });
    const hub = new Submitter(fleet.real.hub.api, "dispatched");
    try {
      await pairs(fleet, hub, 20);
      for (let turn = 0; turn < rounds; turn++) {
        const load = loadavg()[0] ?? 0;
        const times = await pairs(fleet, hub, count);
        const plainCost = await costOf(fleet, hub, count);
        turns.push({ load, ...times, plainCost, referringCost: await costOf(fleet, hub, count, MAP) });
        console.error(`turn ${turn + 1} of ${rounds} done`);
      }
    } finally {
      await hub.close();
    }
    return { turns, kubernetes: (await fleet.versions()).kubernetes };
  } finally {
    await fleet.stop();
  }
}

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const p50 = (times: readonly number[]): number => percentile(times, 0.5);
const perJob = (writes: Readonly<Record<string, number>>, jobs: number): string =>
  round(sum(Object.values(writes)) / jobs, 2);
const hubWrites = ({ hubWrites: writes, jobs }: Cost): string =>
  perJob(without(split(writes).ofJobs, "POST jobs"), jobs);
const workerWrites = ({ workerWrites: writes, jobs }: Cost): string => perJob(split(writes).ofJobs, jobs);
const managerMs = ({ uses, jobs }: Cost): string => round((1000 * (uses.manager?.cpuSeconds ?? 0)) / jobs, 1);
const agentMs = ({ uses, jobs }: Cost): string => round((1000 * (uses.agents?.cpuSeconds ?? 0)) / jobs, 1);

function page(turns: readonly Turn[], kubernetes: string, began: Date): string {
  const all = (of: (turn: Turn) => readonly number[]): number[] => turns.flatMap(of);
  const [plain, referring] = [all((turn) => turn.plain), all((turn) => turn.referring)];
  const more = p50(referring) - p50(plain);
  const rows = turns.map((turn, index) => {
    const [without, withMap] = [p50(turn.plain), p50(turn.referring)];
    return row(
      ...[String(index + 1), round(turn.load, 1), `${turn.plain.length} / ${turn.referring.length}`],
      ...[round(without), round(withMap), round(withMap - without, 1)],
    );
  });
  const costs = (name: string, of: (turn: Turn) => Cost): string[] =>
    turns.map((turn, index) => {
      const cost = of(turn);
      const cells = [hubWrites(cost), workerWrites(cost), managerMs(cost), agentMs(cost)];
      return row(String(index + 1), name, ...cells);
    });
  return `# References

Written by \`npm run bench:references\` on ${began.toISOString().slice(0, 16).replace("T", " ")} UTC: ${cpus().length} cores, Node ${process.version}, Kubernetes ${kubernetes}.
A hub, two workers, Redis, manager and agents on one machine, as for [dispatch](dispatch.md). One-pod Jobs, one at a time; every
second one reads a ConfigMap that is on both workers already.

| goal | measured | met |
|---|---|---|
${row(`at most ${GOAL_MS} ms more from create to pod, p50`, `${round(more, 1)} ms (${round(p50(plain))} ms without, ${round(p50(referring))} ms with)`, more <= GOAL_MS ? "yes" : "**no**")}
${row("no additional write on the hub", `${hubWritesOf(turns)}`, addsNoWrite(turns) ? "yes" : "**no**")}

## From create to pod
Milliseconds, p50; with and without taking turns from Job to Job, so that whatever else the machine did met both.

| turn | load average | Jobs | without | with | more |
|---|---|---|---|---|---|
${rows.join("\n")}

## What it costs
Per Job, in blocks of one sort: writes on the hub after the user's create, writes on the workers, and CPU milliseconds.

| turn | Jobs | hub writes | worker writes | manager | agents |
|---|---|---|---|---|---|
${[...costs("without", (turn) => turn.plainCost), ...costs("with", (turn) => turn.referringCost)].join("\n")}

A Job that refers to something costs the manager one read of the hub for each object, and its agent one read of the worker for
each; a Job that refers to nothing costs neither.
`;
}

const totalHubWrites = (costs: readonly Cost[]): number =>
  sum(
    costs.map(({ hubWrites: writes, jobs }) => sum(Object.values(without(split(writes).ofJobs, "POST jobs"))) / jobs),
  ) / costs.length;

const hubWritesOf = (turns: readonly Turn[]): string =>
  `${round(totalHubWrites(turns.map((turn) => turn.plainCost)), 2)} per Job without, ${round(totalHubWrites(turns.map((turn) => turn.referringCost)), 2)} with`;

/** Events are counted once for several Jobs at times: a twentieth of a write is none. */
const addsNoWrite = (turns: readonly Turn[]): boolean =>
  totalHubWrites(turns.map((turn) => turn.referringCost)) - totalHubWrites(turns.map((turn) => turn.plainCost)) < 0.05;

const { values: flags } = parseArgs({
  options: { rounds: { type: "string" }, jobs: { type: "string" }, page: { type: "string" } },
});
const began = new Date();
const { turns, kubernetes } = await measure(Number(flags.rounds ?? 3), Number(flags.jobs ?? 40));
const text = wrapProse(page(turns, kubernetes, began));
await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/references.md"), text);
console.log(text);
