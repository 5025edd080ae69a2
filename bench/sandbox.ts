/**
 * What a sandbox cluster costs, in process: time to start, writes per second under watchers, memory for many pods.
 * `node bench/sandbox.ts` measures each in a process of its own and writes docs/bench/sandbox.md.
 */
import { fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { benchJob } from "./job-controller/work.ts";

const WATCHERS = 10;
const WRITERS = 20;
const STARTS = 20;
const PODS_FOR_SPEED = 20_000;
const PODS_FOR_MEMORY = 100_000;
const MIB = 2 ** 20;

interface Figures {
  readonly [name: string]: number;
}

const job = benchJob("bench", { pods: PODS_FOR_MEMORY, parallelism: 1000 });

/** The pod of one index, as the Job controller creates it. */
function podOf(owner: Job, index: number): Pod {
  const { uid = "" } = owner.metadata;
  const name = `bench-${index}`;
  const key = "batch.kubernetes.io/job-completion-index";
  return {
    metadata: {
      name,
      labels: { ...owner.spec.template.metadata?.labels, [key]: String(index) },
      annotations: { [key]: String(index) },
      finalizers: ["batch.kubernetes.io/job-tracking"],
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "Job", name: "bench", uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { ...owner.spec.template.spec, hostname: name },
  };
}

/** What a kubelet reports of a pod that is done. */
function doneStatus(at: string) {
  return {
    phase: "Succeeded",
    conditions: [{ type: "Ready", status: "False", reason: "PodCompleted", lastTransitionTime: at }],
    containerStatuses: [
      {
        name: "main",
        ready: false,
        restartCount: 0,
        image: "busybox:1",
        imageID: "",
        state: { terminated: { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at } },
      },
    ],
  };
}

/** Creates each pod and reports it done: two writes a pod. */
async function runPods(api: KubeApi, owner: Job, count: number): Promise<void> {
  let next = 0;
  const at = `${new Date().toISOString().slice(0, 19)}Z`;
  const writer = async (): Promise<void> => {
    while (next < count) {
      const pod = await api.create(pods, "default", podOf(owner, next++));
      const key = { namespace: "default", name: pod.metadata.name ?? "" };
      const patch = { type: "strategic", body: { status: doneStatus(at) } } as const;
      await api.patch(pods, key, patch, { subresource: "status" });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

/** Half of the watchers select by label. */
function startWatchers(api: KubeApi, resourceVersion: string, signal: AbortSignal): Promise<number>[] {
  return Array.from({ length: WATCHERS }, async (_, index) => {
    let seen = 0;
    const selector = index % 2 === 0 ? {} : { labelSelector: "batch.kubernetes.io/job-name=bench" };
    try {
      for await (const batch of api.watch(pods, { resourceVersion, signal, ...selector })) seen += batch.length;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return seen;
  });
}

async function measureStart(): Promise<Figures> {
  const times: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const begin = performance.now();
    const cluster = new SandboxCluster({ kubelet: "virtual" });
    await cluster.start();
    times.push(performance.now() - begin);
    await cluster.stop();
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { first: times[0] ?? 0, median: sorted[STARTS >> 1] ?? 0, worst: sorted.at(-1) ?? 0 };
}

async function measureSpeed(): Promise<Figures> {
  const cluster = new SandboxCluster();
  await cluster.start();
  const owner = await cluster.api.create(jobs, "default", job);
  const stop = new AbortController();
  const watchers = startWatchers(cluster.api, owner.metadata.resourceVersion ?? "", stop.signal);
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await runPods(cluster.api, owner, PODS_FOR_SPEED);
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  stop.abort();
  const seen = await Promise.all(watchers);
  const writes = 2 * PODS_FOR_SPEED;
  if (seen.some((events) => events !== writes)) throw new Error(`watchers missed events: ${seen.join(", ")}`);
  await cluster.stop();
  return { writes, seconds, perSecond: writes / seconds, cpuMicros: (user + system) / writes };
}

async function measureMemory(): Promise<Figures> {
  const cluster = new SandboxCluster();
  await cluster.start();
  const owner = await cluster.api.create(jobs, "default", job);
  await runPods(cluster.api, owner, PODS_FOR_MEMORY);
  const rss = process.memoryUsage().rss / MIB;
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed / MIB;
  await cluster.stop();
  return { rss, heap };
}

const measures: Record<string, () => Promise<Figures>> = {
  start: measureStart,
  speed: measureSpeed,
  memory: measureMemory,
};

/** Each measure begins with a fresh heap. */
function inOwnProcess(name: string): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [name], { execArgv: ["--expose-gc"] });
    child.once("message", (figures) => resolve(figures as Figures));
    child.once("exit", (code) => {
      if (code !== 0) reject(new Error(`measuring ${name} failed with exit code ${String(code)}`));
    });
  });
}

const round = (value: number | undefined, digits = 0): string => (value ?? Number.NaN).toFixed(digits);

function page(start: Figures, speed: Figures, memory: Figures): string {
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "CPU"}, ${round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  return `# Sandbox cluster

Written by \`node bench/sandbox.ts\` on ${machine}; load average while it ran: ${round(loadavg()[0], 1)}.

| what | measured | wanted |
|---|---|---|
| a cluster with a node starts, in process (first / median / worst of ${STARTS}) | ${round(start.first)} / ${round(start.median)} / ${round(start.worst)} ms | under 100 ms |
| writes with ${WATCHERS} watchers, half of them selecting by label | ${round(speed.perSecond)} per second | at least 3,000 |
| CPU time per write, fan-out to the watchers included | ${round(speed.cpuMicros)} µs | |
| ${PODS_FOR_MEMORY.toLocaleString("en")} finished pods: resident / live heap | ${round(memory.rss)} / ${round(memory.heap)} MiB | under 1,536 MiB |

A write here is the creation of a pod of an Indexed Job (decoded, defaulted and validated) or the strategic patch that reports
it done; ${WRITERS} callers at a time, ${round(speed.writes)} writes in ${round(speed.seconds, 1)} s. Every watcher saw every event it selected.
`;
}

const [name] = process.argv.slice(2);
const measure = name === undefined ? undefined : measures[name];
if (measure !== undefined) {
  const figures = await measure();
  process.send?.(figures, () => process.exit(0));
} else {
  const text = page(await inOwnProcess("start"), await inOwnProcess("speed"), await inOwnProcess("memory"));
  writeFileSync(join(import.meta.dirname, "../docs/bench/sandbox.md"), text);
  console.log(text);
}
