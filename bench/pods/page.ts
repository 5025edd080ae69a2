import { cpus, totalmem } from "node:os";
import { percentile, type Writes } from "../dispatch/figures.ts";
import { round } from "../dispatch/goals.ts";
import { median, sum } from "../job-controller/figures.ts";
import type { Burst, Figures, LargeJob, Streams } from "./figures.ts";

interface Row {
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly met: boolean | undefined;
}

/** After the user's create, events aside. */
const perJob = (writes: Writes, jobs: number): number =>
  sum(Object.entries(writes).flatMap(([kind, count]) => (/^(?!POST jobs$).*(jobs|pods)/.test(kind) ? [count] : []))) /
  jobs;

const p = (values: readonly number[], share: number): string => `${round(percentile(values, share))} ms`;

export function rows({ singles, bursts, large, streams }: Figures): Row[] {
  return [
    ...(singles === undefined ? [missing("Jobs one at a time")] : singlesRows(singles)),
    bursts === undefined ? missing("bursts") : burstsRow(bursts),
    large === undefined ? missing("a large Job") : largeRow(large),
    ...(streams === undefined ? [missing("logs")] : streamsRows(streams)),
  ];
}

function singlesRows({ withShadows, without }: NonNullable<Figures["singles"]>): Row[] {
  const [shownP50, shownP99] = [percentile(withShadows.shownMs, 0.5), percentile(withShadows.shownMs, 0.99)];
  const writes = { on: perJob(withShadows.hubWrites, withShadows.jobs), off: perJob(without.hubWrites, without.jobs) };
  return [
    row("create to the first shadow, p50 / p99", `${p(withShadows.earlyMs, 0.5)} / ${p(withShadows.earlyMs, 0.99)}`),
    row(
      "create to the shadow showing the worker's pod, p50 / p99",
      `${round(shownP50)} ms / ${round(shownP99)} ms`,
      "60 ms / 150 ms",
      shownP50 <= 60 && shownP99 <= 150,
    ),
    row("hub writes per one-pod Job with shadows, events aside", round(writes.on, 2), "5 or fewer", writes.on <= 5),
    row("the same without shadows", round(writes.off, 2)),
  ];
}

function burstsRow(bursts: readonly Burst[]): Row {
  const rate = (shadows: boolean): number =>
    median(bursts.filter((each) => each.shadows === shadows).map(({ jobs, seconds }) => jobs / seconds));
  const ratio = rate(true) / rate(false);
  return row(
    `burst of ${round(bursts[0]?.jobs ?? 0)} one-pod Jobs: rate with shadows`,
    `${round(rate(true), 1)} Jobs/s, without ${round(rate(false), 1)}: ${round(ratio, 2)} x`,
    "0.7 x or more",
    ratio >= 0.7,
  );
}

function largeRow({ pods, cap, said, hubWrites }: LargeJob): Row {
  const podWrites = sum(Object.entries(hubWrites).flatMap(([kind, count]) => (/ pods/.test(kind) ? [count] : [])));
  return row(
    `a Job of ${round(pods)} pods with a cap of ${cap}: writes to pods`,
    `${round(podWrites)}; its event: "${said}"`,
    "bounded by the cap, and said",
    podWrites <= 10 * cap && said !== "nothing",
  );
}

function streamsRows({ oneMBs, many, dispatchP99Ms, latencyMs }: Streams): Row[] {
  const one = { hub: median(oneMBs.hub), direct: median(oneMBs.direct) };
  const late = percentile(latencyMs.hub, 0.5) - percentile(latencyMs.direct, 0.5);
  const beside = dispatchP99Ms.beside / dispatchP99Ms.alone;
  const wait = "kubectl logs -f, late by, p50, beyond reading from the worker";
  return [
    latencyMs.hub.length === 0 ? missing(wait) : row(wait, `${round(late, 1)} ms`, "30 ms", late <= 30),
    row(
      "one reader",
      `${round(one.hub, 1)} MB/s; from the worker ${round(one.direct, 1)} MB/s`,
      "20 MB/s",
      one.hub >= 20,
    ),
    row(`${many.readers} readers together`, `${round(many.mbs, 1)} MB/s`, "20 MB/s", many.mbs >= 20),
    row("and Redis holds at most", `${round(many.redisMiB, 1)} MiB`, "64 MiB", many.redisMiB <= 64),
    row(
      "create to Complete meanwhile, p99",
      `${round(dispatchP99Ms.beside)} ms, alone ${round(dispatchP99Ms.alone)} ms: ${round(beside, 2)} x`,
      "1.5 x or less",
      beside <= 1.5,
    ),
  ];
}

const missing = (what: string): Row => ({ what, measured: "not measured", wanted: "", met: undefined });
const row = (what: string, measured: string, wanted = "", met?: boolean): Row => ({ what, measured, wanted, met });

const met = (value: boolean | undefined): string => (value === undefined ? "" : value ? "yes" : "**no**");

export function page(figures: Figures, runs: string): string {
  const { sittings, kubernetes, redis, bursts = [] } = figures;
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? "?"}, ${round(totalmem() / 2 ** 30)} GiB`;
  const times = sittings.map(
    ({ parts, began, tookSeconds, load }) =>
      `${parts.join(", ")}: ${began.slice(0, 16).replace("T", " ")} UTC, ${round(tookSeconds)} s, load average ${load.map((each) => round(each, 1)).join(" at the start and ")} at the end`,
  );
  return `# Pods and logs on the hub

Written by \`npm run bench:pods\` (${times.join("; ")}): ${machine}, Node ${process.version}, Kubernetes ${kubernetes}, Redis ${redis}. Hub, one worker (API server, etcd and a stand-in for scheduler and kubelet that finishes pods at once and serves their logs), Redis, manager, agent and this program share the machine.

| measure | measured | wanted | met |
|---|---|---|---|
${rows(figures)
  .map(({ what, measured, wanted, met: isMet }) => `| ${what} | ${measured} | ${wanted} | ${met(isMet)} |`)
  .join("\n")}

Jobs with and without shadows run on the same fleet in turns; those without have the annotation \`jobferry.dev/pods: None\`. "From the worker" reads the same log from the worker's API server.

## Bursts
| shadows | Jobs | seconds | Jobs/s | hub writes per Job after the create, events aside |
|---|---|---|---|---|
${bursts
  .map(
    ({ shadows, jobs, seconds, hubWrites }) =>
      `| ${shadows ? "yes" : "no"} | ${round(jobs)} | ${round(seconds, 1)} | ${round(jobs / seconds, 1)} | ${round(perJob(hubWrites, jobs), 2)} |`,
  )
  .join("\n")}

${runs}`;
}
