/** One turn: Jobs one after the other and in bursts, dispatched from the hub, and the same on a worker without dispatch. */
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { RealCluster } from "@jobferry/test/harness/real-cluster-options.ts";
import { sum } from "../job-controller/figures.ts";
import { localOf, pidsOf, usedSince, usesOf } from "./counters.ts";
import { type Cost, percentile, type Reference, type Sequence, type Turn } from "./figures.ts";
import type { BenchFleet } from "./fleet.ts";
import { PodWatch } from "./pods.ts";
import type { Sizes } from "./sizes.ts";
import { Submitter } from "./work.ts";

/** The limits that bench/job-controller gives it too. */
const BUILT_IN = ["--kube-api-qps=1000", "--kube-api-burst=1000", "--concurrent-job-syncs=10"];

/** Who goes second meets servers that the first has filled. So whoever starts changes from turn to turn. */
export type First = "dispatched" | "built-in";

export async function turn(fleet: BenchFleet, sizes: Sizes, first: First, say: (line: string) => void): Promise<Turn> {
  const early = first === "built-in" ? await builtInPart(fleet, sizes, say) : undefined;
  const dispatched = await dispatchedPart(fleet, sizes, say);
  return { first, ...dispatched, builtIn: early ?? (await builtInPart(fleet, sizes, say)) };
}

async function dispatchedPart(
  fleet: BenchFleet,
  sizes: Sizes,
  say: (line: string) => void,
): Promise<Pick<Turn, "sequence" | "bursts">> {
  const hub = new Submitter(fleet.real.hub.api, "dispatched");
  try {
    const sequence = await dispatchedSequence(fleet, hub, sizes.singles);
    const [toPod, toComplete] = [sequence.toPodMs, sequence.toCompleteMs].map((times) => percentile(times, 0.5));
    say(`one at a time: p50 ${toPod?.toFixed(0)} ms to the pod, ${toComplete?.toFixed(0)} ms to Complete`);
    const bursts: Cost[] = [];
    for (const jobs of sizes.bursts) {
      const cost = await fleet.measure(jobs, () => hub.burst(jobs, sizes.creators));
      say(`burst: ${describe(cost)}`);
      bursts.push(cost);
    }
    return { sequence, bursts };
  } finally {
    await hub.close();
  }
}

async function builtInPart(fleet: BenchFleet, sizes: Sizes, say: (line: string) => void): Promise<Reference> {
  const [worker] = fleet.workers;
  if (worker === undefined) throw new Error("the fleet has no worker");
  const builtIn = await reference(worker, sizes);
  say(`built-in, one at a time: p50 ${percentile(builtIn.toPodMs, 0.5).toFixed(0)} ms to the pod`);
  for (const { jobs, seconds } of builtIn.bursts) say(`built-in: ${jobs} Jobs, ${(jobs / seconds).toFixed(1)} Jobs/s`);
  return builtIn;
}

const describe = ({ jobs, seconds, hubWrites, workerWrites }: Cost): string =>
  `${jobs} Jobs, ${(jobs / seconds).toFixed(1)} Jobs/s, hub ${JSON.stringify(hubWrites)}, workers ${JSON.stringify(workerWrites)}`;

async function dispatchedSequence(fleet: BenchFleet, hub: Submitter, count: number): Promise<Sequence> {
  let times: Times = { toPodMs: [], toCompleteMs: [] };
  const cost = await fleet.measure(count, async () => {
    const began = performance.now();
    times = await oneByOne(
      hub,
      fleet.workers.map(({ api }) => api),
      count,
    );
    return (performance.now() - began) / 1000;
  });
  return { ...cost, ...times };
}

export interface Times {
  readonly toPodMs: readonly number[];
  readonly toCompleteMs: readonly number[];
}

/** Jobs one after the other, and when the first pod of each was seen on these clusters. */
export async function oneByOne(submitter: Submitter, pods: readonly KubeApi[], count: number): Promise<Times> {
  const watch = new PodWatch(pods);
  await watch.ready();
  const toPodMs: number[] = [];
  const toCompleteMs: number[] = [];
  try {
    for (let job = 0; job < count; job++) {
      const name = Submitter.newName();
      const complete = submitter.complete(name);
      const began = performance.now();
      await submitter.create(name);
      toCompleteMs.push((await complete).atMs - began);
      toPodMs.push(watch.seenAt(name) - began);
    }
  } finally {
    await watch.close();
  }
  return { toPodMs, toCompleteMs };
}

async function reference(worker: RealCluster, sizes: Sizes): Promise<Reference> {
  const controller = localOf(worker).controlPlane.run("kube-controller-manager", [
    "--kubeconfig=kubeconfig",
    "--secure-port=0",
    "--leader-elect=false",
    "--controllers=job-controller",
    ...BUILT_IN,
  ]);
  const submitter = new Submitter(worker.api, "built-in");
  const { apiServer, kubelet } = pidsOf(worker);
  const parts = { all: [...apiServer, ...kubelet, controller.pid, process.pid] };
  try {
    await submitter.burst(20, sizes.creators);
    const times = await oneByOne(submitter, [worker.api], sizes.builtInSingles);
    const bursts: Reference["bursts"][number][] = [];
    for (const jobs of sizes.bursts) {
      const used = await usesOf(parts);
      const seconds = await submitter.burst(jobs, sizes.creators);
      const uses = usedSince(used, await usesOf(parts));
      bursts.push({ jobs, seconds, cpuSeconds: sum(Object.values(uses).map(({ cpuSeconds }) => cpuSeconds)) });
    }
    return { ...times, bursts };
  } finally {
    await submitter.close();
    await controller.stop(0);
  }
}
