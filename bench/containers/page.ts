/** The page that a run writes: what each contender takes for a Job, with pods that end at once and with real containers. */
import { cpus, totalmem } from "node:os";
import { percentile, split, type Writes, without } from "../dispatch/figures.ts";
import { round } from "../dispatch/goals.ts";
import { median, sum } from "../job-controller/figures.ts";
import { type ContenderName, contenderNames, type Figures, type PodKind, type Turn, type Work } from "./figures.ts";

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const kinds: readonly PodKind[] = ["instant", "containers"];

const isEvent = (kind: string): boolean => / events/.test(kind);
/** Status and binding of pods are the kubelet's and the scheduler's. */
const isOfNode = (kind: string): boolean => / pods\/(status|binding)/.test(kind);
const count = (writes: Writes, isMeant: (kind: string) => boolean): number =>
  sum(Object.entries(split(writes).ofJobs).flatMap(([kind, times]) => (isMeant(kind) ? [times] : [])));

/** After the user's create, which is on the hub or on the worker. */
const hubWrites = ({ hubWrites: writes }: Work): number =>
  count(without(writes, "POST jobs"), (kind) => !isEvent(kind));
const workerWrites =
  (isDispatched: boolean) =>
  ({ workerWrites: writes }: Work): number =>
    count(isDispatched ? writes : without(writes, "POST jobs"), (kind) => !isEvent(kind) && !isOfNode(kind));

interface Measure {
  readonly what: string;
  of(turns: readonly Turn[]): string;
}

const perJob = (of: (work: Work, turn: Turn) => number, which: "singles" | "burst", digits = 2) => {
  return (turns: readonly Turn[]): string =>
    round(median(turns.map((turn) => of(turn[which], turn) / turn[which].jobs)), digits);
};
const p50 = (of: (turn: Turn) => readonly number[]) => (turns: readonly Turn[]) =>
  round(percentile(turns.flatMap(of), 0.5));
const ofWorker = (work: Work, { contender }: Turn): number => workerWrites(contender.startsWith("dispatched"))(work);

const measures: readonly Measure[] = [
  { what: "one at a time: create to pod, p50, ms", of: p50(({ singles }) => singles.toPodMs) },
  { what: "one at a time: create to Complete, p50, ms", of: p50(({ singles }) => singles.toCompleteMs) },
  {
    what: "burst: Jobs per second",
    of: (turns) => round(median(turns.map(({ burst }) => burst.jobs / burst.seconds)), 2),
  },
  { what: "one at a time: hub writes per Job", of: perJob(hubWrites, "singles") },
  { what: "burst: hub writes per Job", of: perJob(hubWrites, "burst") },
  {
    what: "one at a time: events on the hub per Job",
    of: perJob(({ hubWrites: writes }) => count(writes, isEvent), "singles"),
  },
  { what: "one at a time: controller's writes on the worker per Job", of: perJob(ofWorker, "singles") },
  { what: "burst: controller's writes on the worker per Job", of: perJob(ofWorker, "burst") },
  {
    what: "one at a time: writes of kubelet and scheduler per Job",
    of: perJob(({ workerWrites: writes }) => count(writes, isOfNode), "singles"),
  },
  { what: "burst: CPU ms per Job", of: perJob(({ cpuSeconds }) => cpuSeconds * 1000, "burst", 1) },
];

const turnsOf = ({ turns }: Figures, pods: PodKind, contender: ContenderName): Turn[] =>
  turns.filter((turn) => turn.pods === pods && turn.contender === contender);

function measureRows(figures: Figures): string {
  return measures
    .flatMap(({ what, of }) =>
      kinds.map((pods) => row(what, pods, ...contenderNames.map((contender) => of(turnsOf(figures, pods, contender))))),
    )
    .join("\n");
}

function turnRows({ turns }: Figures): string {
  return turns
    .map(({ pods, round: number, contender, singles, burst }) =>
      row(
        ...[pods, String(number), contender],
        ...[singles.toPodMs, singles.toCompleteMs].map((times) => times.map((time) => round(time)).join(", ")),
        `${round(burst.jobs)} in ${round(burst.seconds, 1)} s`,
        ...[round(hubWrites(singles) / singles.jobs, 2), round(hubWrites(burst) / burst.jobs, 2)],
      ),
    )
    .join("\n");
}

function writeRows(figures: Figures): string {
  const rows = (["hub", "worker"] as const).flatMap((where) => {
    const of = ({ singles }: Turn): Writes => split(where === "hub" ? singles.hubWrites : singles.workerWrites).ofJobs;
    const turns = figures.turns.filter(({ pods }) => pods === "containers");
    const all = [...new Set(turns.flatMap((turn) => Object.keys(of(turn))))].sort();
    return all.map((kind) =>
      row(
        ...[where, kind],
        ...contenderNames.map((contender) => {
          const own = turns.filter((turn) => turn.contender === contender);
          return round(median(own.map((turn) => (of(turn)[kind] ?? 0) / turn.singles.jobs)), 2);
        }),
      ),
    );
  });
  return rows.join("\n");
}

const roundsOf = ({ turns }: Figures, pods: PodKind): number =>
  Math.max(0, ...turns.filter((turn) => turn.pods === pods).map((turn) => turn.round));

/** With real containers and shadows. */
const WRITES_WANTED = 7;

export function page(figures: Figures, findings: string): string {
  const { began, tookSeconds, load, kubernetes, turns } = figures;
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "CPU"}, ${round(totalmem() / 2 ** 30)} GiB`;
  const [first] = turns;
  const shown = turnsOf(figures, "containers", "dispatched, pods shown");
  const writes = Math.max(
    ...shown.flatMap(({ singles, burst }) => [hubWrites(singles) / singles.jobs, hubWrites(burst) / burst.jobs]),
  );
  const header = `| measure | pods | ${contenderNames.join(" | ")} |\n|${"---|".repeat(2 + contenderNames.length)}`;
  return `# Real containers

Written by \`npm run bench:containers\` on ${began.toISOString().slice(0, 16).replace("T", " ")} UTC (it took ${round(tookSeconds)} s): ${machine}, Node ${process.version}, Kubernetes ${kubernetes}; load average at the start ${round(load, 1)}. Hub, one worker, Redis, manager, agent, this program and, for real containers, scheduler, kubelet, containerd and runc share the machine.

The pages of [dispatch](dispatch.md) and of the [Job controller](job-controller.md) are measured with *instant* pods: a stand-in for scheduler and kubelet ends them at once. Here the same one-pod Jobs run with them and with real *containers* (busybox, \`true\`, 100m of CPU each on one node), by four contenders: kube-controller-manager's Job controller on the worker, our Job controller there without dispatch, dispatch from a hub without shadow pods, and with them. Each is measured in every round; the order is turned round from round to round. Writes leave events and the user's create out.

${header}
${measureRows(figures)}

Figures are medians over the rounds: ${kinds.map((kind) => `${roundsOf(figures, kind)} (${kind})`).join(", ")}. Latencies are of all Jobs of them; ${first?.singles.jobs} Jobs one at a time and a burst of ${first?.burst.jobs} in each. CPU time is that of the controller, or of manager, agent and Redis.

| goal | measured, the largest of all turns | wanted | met |
|---|---|---|---|
${row("hub writes per Job with pods shown and real containers, events aside", round(writes, 2), `${WRITES_WANTED} or fewer`, writes <= WRITES_WANTED ? "yes" : "**no**")}

## Each turn
In the order in which they were made.

| pods | round | contender | create to pod, ms | create to Complete, ms | burst | hub writes, one at a time | hub writes, burst |
|---|---|---|---|---|---|---|---|
${turnRows(figures)}

## Writes by kind, one at a time, real containers
Per Job, everybody's, the user's create and events included.

| where | write | ${contenderNames.join(" | ")} |
|${"---|".repeat(2 + contenderNames.length)}
${writeRows(figures)}

${findings.trim()}
`;
}
