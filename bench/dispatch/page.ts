/** The page that a run writes: each goal with what was measured, then what lies behind the figures. */
import { cpus, totalmem } from "node:os";
import { median, sum } from "../job-controller/figures.ts";
import { type Cost, type Figures, percentile, type Step, split, type Uses, type Writes } from "./figures.ts";
import { type Goal, goals, round } from "./goals.ts";
import type { PartShare } from "./profile.ts";

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function goalRow({ what, measured, wanted, met, builtIn, multiKueue }: Goal): string {
  return row(what, measured, wanted, wanted === "" ? "" : met ? "yes" : "**no**", builtIn, multiKueue);
}

/** All works on the fleet with real workers, in the order of the page. */
function works({ sizes, turns }: Figures): { name: string; costs: Cost[] }[] {
  return [
    { name: "one at a time", costs: turns.map(({ sequence }) => sequence) },
    ...sizes.bursts.map((jobs, index) => ({
      name: `burst of ${round(jobs)}`,
      costs: turns.flatMap(({ bursts }) => bursts.slice(index, index + 1)),
    })),
  ];
}

function latencyRows({ turns }: Figures): string {
  const rows = (
    [
      ["dispatched: create to worker pod", turns.flatMap(({ sequence }) => sequence.toPodMs)],
      ["dispatched: create to Complete on the hub", turns.flatMap(({ sequence }) => sequence.toCompleteMs)],
      ["built-in: create to pod", turns.flatMap(({ builtIn }) => builtIn.toPodMs)],
      ["built-in: create to Complete", turns.flatMap(({ builtIn }) => builtIn.toCompleteMs)],
    ] as const
  ).map(([what, times]) =>
    row(what, String(times.length), ...[0.5, 0.9, 0.99].map((share) => round(percentile(times, share)))),
  );
  return rows.join("\n");
}

function burstRows(figures: Figures): string {
  return figures.turns
    .flatMap(({ first, bursts, builtIn }, turn) =>
      bursts.map(({ jobs, seconds, uses }, index) => {
        const other = builtIn.bursts[index]?.seconds ?? Number.NaN;
        const rates = [jobs / seconds, jobs / other];
        const cpu = [sum(Object.values(uses).map(({ cpuSeconds }) => cpuSeconds)), builtIn.bursts[index]?.cpuSeconds];
        const cells = [...rates.map((rate) => round(rate, 1)), round(other / seconds, 2)];
        return row(
          String(turn + 1),
          first,
          round(jobs),
          ...cells,
          ...cpu.map((s = Number.NaN) => round((s * 1000) / jobs)),
        );
      }),
    )
    .join("\n");
}

/** The steps in the order in which they happened, each with the time since the one before. */
function timelineRows(steps: readonly Step[]): string {
  const at = ({ atMs }: Step, share: number): number =>
    percentile(
      atMs.filter((ms) => Number.isFinite(ms)),
      share,
    );
  const ordered = steps.toSorted((one, other) => at(one, 0.5) - at(other, 0.5));
  return ordered
    .map((step, index) => {
      const before = ordered[index - 1];
      const since = at(step, 0.5) - (before === undefined ? 0 : at(before, 0.5));
      return row(step.what, round(at(step, 0.5), 1), `+${round(since, 1)}`, round(at(step, 0.9), 1));
    })
    .join("\n");
}

/** Kinds of writes of Jobs; medians over the turns. */
function writeRows(figures: Figures): string {
  const all = works(figures);
  const rows = (where: "hub" | "worker", of: (cost: Cost) => Writes): string[] => {
    const kinds = new Set(all.flatMap(({ costs }) => costs.flatMap((cost) => Object.keys(split(of(cost)).ofJobs))));
    return [...kinds].sort().map((kind) => {
      const counts = all.map(({ costs }) => round(median(costs.map((cost) => (of(cost)[kind] ?? 0) / cost.jobs)), 2));
      return row(where, `${kind}${where === "hub" && kind === "POST jobs" ? " (the user's)" : ""}`, ...counts);
    });
  };
  return [...rows("hub", ({ hubWrites }) => hubWrites), ...rows("worker", ({ workerWrites }) => workerWrites)].join(
    "\n",
  );
}

/** What happens whether there are Jobs or not, in all turns together. */
function periodicWrites(figures: Figures): string {
  const sums = (of: (cost: Cost) => Writes): string => {
    const counts: Record<string, number> = {};
    for (const { costs } of works(figures))
      for (const cost of costs)
        for (const [kind, count] of Object.entries(split(of(cost)).ofTime)) counts[kind] = (counts[kind] ?? 0) + count;
    const parts = Object.entries(counts).map(([kind, count]) => `${round(count)} ${kind}`);
    return parts.length === 0 ? "none" : parts.join(", ");
  };
  return `hub: ${sums(({ hubWrites }) => hubWrites)}; workers: ${sums(({ workerWrites }) => workerWrites)}`;
}

function useRows(figures: Figures): string {
  const all = works(figures);
  const parts = Object.keys(all[0]?.costs[0]?.uses ?? {});
  const cpu = (cost: Cost, part: string): number => ((cost.uses[part]?.cpuSeconds ?? 0) * 1000) / cost.jobs;
  const rows = parts.map((part) => {
    const largest = all.at(-1)?.costs ?? [];
    const memory = median(largest.map(({ uses }) => uses[part]?.residentMiB ?? Number.NaN));
    return row(part, ...all.map(({ costs }) => round(median(costs.map((cost) => cpu(cost, part))), 1)), round(memory));
  });
  const total = (cost: Cost): number => parts.reduce((sum, part) => sum + cpu(cost, part), 0);
  return [...rows, row("**all**", ...all.map(({ costs }) => round(median(costs.map(total)), 1)), "")].join("\n");
}

/** What the machine could do at most, were there nothing but CPU time. */
function cpuBound(figures: Figures): string {
  const costs = works(figures).at(-1)?.costs ?? [];
  const seconds = median(costs.map(({ uses, jobs }) => sum(Object.values(uses).map((use) => use.cpuSeconds)) / jobs));
  const servers = median(
    costs.map(({ uses, jobs }) => ((uses.hub?.cpuSeconds ?? 0) + (uses.workers?.cpuSeconds ?? 0)) / jobs),
  );
  return `${round(seconds * 1000)} ms of CPU time per Job on ${cpus().length} cores allow ${round(cpus().length / seconds, 1)} Jobs/s at most;
API servers and etcd alone (${round(servers * 1000)} ms) would allow ${round(cpus().length / servers, 1)}`;
}

function waitingRows({ waiting }: Figures): string {
  return waiting
    .map(({ waiting: level, placements, seconds, managerCpuSeconds, managerMiB, hubWrites }) =>
      row(
        round(level),
        round((seconds * 1000) / placements, 1),
        round((managerCpuSeconds * 1000) / placements, 2),
        round(managerMiB),
        Object.entries(split(hubWrites).ofJobs)
          .map(([kind, count]) => `${round(count / placements, 2)} ${kind}`)
          .join(", "),
      ),
    )
    .join("\n");
}

function manyRows({ manyWorkers: { uses, seconds, jobs, idle } }: Figures): string {
  const share = (of: Uses, part: string, during: number): number => ((of[part]?.cpuSeconds ?? 0) / during) * 100;
  return ["manager", "redis", "hub", "agents"]
    .map((part) =>
      row(
        part === "agents" ? "workers and agents" : part,
        `${round(share(idle.uses, part, idle.seconds), 1)} %`,
        `${round(share(uses, part, seconds), 1)} %`,
        round(
          (1000 * ((uses[part]?.cpuSeconds ?? 0) - (share(idle.uses, part, 100) * seconds) / idle.seconds)) / jobs,
          1,
        ),
        round(uses[part]?.residentMiB ?? Number.NaN),
      ),
    )
    .join("\n");
}

const profileRows = ({ manager, agent }: Figures["profiles"]): string => {
  const shares = (profile: readonly PartShare[]): Map<string, number> =>
    new Map(profile.map(({ part, share }) => [part, share]));
  const [ofManager, ofAgent] = [shares(manager), shares(agent)];
  const largest = (part: string): number => Math.max(ofManager.get(part) ?? 0, ofAgent.get(part) ?? 0);
  return [...new Set([...ofManager.keys(), ...ofAgent.keys()])]
    .filter((part) => largest(part) >= 0.01)
    .sort((one, other) => largest(other) - largest(one))
    .map((part) => row(part, ...[ofManager, ofAgent].map((of) => `${round((of.get(part) ?? 0) * 100, 1)} %`)))
    .join("\n");
};

export function page(figures: Figures, findings: string): string {
  const { sizes, kubernetes, redis, began, load, tookSeconds, manyWorkers } = figures;
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "CPU"}, ${round(totalmem() / 2 ** 30)} GiB`;
  const names = works(figures).map(({ name }) => name);
  const dashes = names.map(() => "---").join("|");
  return `# Dispatch

Written by \`npm run bench:dispatch\` on ${began.toISOString().slice(0, 16).replace("T", " ")} UTC (it took ${round(tookSeconds)} s): ${machine}, Node ${process.version}, Kubernetes
${kubernetes}, Redis ${redis}; load average at the start ${round(load, 1)}. Hub, two workers (each with API server, etcd and a stand-in for scheduler
and kubelet that finishes pods at once), Redis, manager, two agents and this program share the machine.

| measure | measured | wanted | met | built-in, no dispatch | MultiKueue |
|---|---|---|---|---|---|
${goals(figures).map(goalRow).join("\n")}

"Built-in" is kube-controller-manager's Job controller, and nothing else of it, on one of the same worker clusters in the same run,
with manager and agents running beside it: that worker's agent watches its Jobs and pods too, which slows the built-in controller by an amount
that was not measured. There were ${sizes.rounds} turns; whoever comes first in a turn changes, because the second meets servers that the first has filled. Figures are
medians of the turns. Jobs differ: 60 sizes of requests, 1 to 12 variables in their environment; both sides get the same. MultiKueue's figures (Kueue 0.15, hub and two workers, stock limits on remote requests) were measured by hand on the
same kind of machine, not in this run, without a script; its project reports 45 to 100 admissions per second with tuned
limits, which are admissions and not Jobs with pods that ended. Pods end within a second here, so that most Jobs are reported to the hub once, at their end; [what
holds with real containers](containers.md) was measured apart. Manager and agents run with the Roles and
the Redis users of \`deploy/\` and with default flags, so finished mirrors stay for ten minutes: cleaning them up (a delete per mirror,
and what the garbage collector does with its pods) is not in these figures. No cluster has a kube-controller-manager otherwise.

## One Job at a time
| milliseconds | Jobs | p50 | p90 | p99 |
|---|---|---|---|---|
${latencyRows(figures)}

### Where the time goes
${sizes.timeline} more Jobs, one at a time, with everything watched: milliseconds after the create was sent, and since the step before. Messages are seen by
Redis' MONITOR, writes by watches, which tell of them a moment late; so a step may seem to come before its cause.

| step | p50 | | p90 |
|---|---|---|---|
${timelineRows(figures.timeline)}

## Bursts
All Jobs are created as fast as ${sizes.creators} requests at a time go; Jobs per second from the first create to the last Complete, and
the CPU time of everybody who takes part.

| turn | first | Jobs | dispatched | built-in | ratio | CPU ms per Job, dispatched | built-in |
|---|---|---|---|---|---|---|---|
${burstRows(figures)}

## Writes per Job
As counted by the API servers (\`apiserver_request_total\`), failed ones included, until nothing was written any more.

| on | write | ${names.join(" | ")} |
|---|---|${dashes}|
${writeRows(figures)}

Not in the table, because time and not Jobs cause them, in all turns together: ${periodicWrites(figures)}.

## CPU and memory
Milliseconds of CPU time per Job, start-up excluded, and resident memory (MiB) after the last burst. \`hub\` and \`workers\` are API servers
and etcd; \`this program\` creates the Jobs and watches them.

| part | ${names.join(" | ")} | memory |
|---|${dashes}|---|
${useRows(figures)}

In the largest burst ${cpuBound(figures)}.

CPU profile (\`node --cpu-prof\`) of a freshly started manager and agent over a burst of ${round(sizes.profiled)} Jobs: a sample counts for the innermost package or
folder on its stack, system calls included; shares of the time the process was busy.

| part | manager | agent |
|---|---|---|
${profileRows(figures.profiles)}

## Many waiting Jobs
A real hub, one cluster that takes one Job at a time (\`maxJobs: 1\`) and answers at once (a stand-in for its agent), ${round(sizes.waiting.placements)} placements each.

| Jobs waiting | ms per placement | manager CPU ms | manager MiB | hub writes per placement |
|---|---|---|---|---|
${waitingRows(figures)}

A placement here is a whole round: a report, the terminal status, the next choice, its assignment, its delivery, and the reason shown on the
Jobs that have moved far enough ahead in the line to be told why they wait.

## Many workers
${manyWorkers.workers} sandbox clusters with their agents in ${sizes.manyWorkers.processes} processes, one manager, a real hub; ${round(manyWorkers.jobs)} Jobs at ${manyWorkers.perSecond} per second. Create to mirror: p50
${round(percentile(manyWorkers.toMirrorMs, 0.5))} ms, p90 ${round(percentile(manyWorkers.toMirrorMs, 0.9))} ms, p99 ${round(percentile(manyWorkers.toMirrorMs, 0.99))} ms, worst ${round(percentile(manyWorkers.toMirrorMs, 1))} ms.

| part | of a core, idle | with Jobs | CPU ms per Job, idle use taken off | MiB |
|---|---|---|---|---|
${manyRows(figures)}

${findings.trim()}
`;
}
