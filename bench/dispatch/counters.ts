/** What API servers and the kernel have counted: read before and after a work, the difference is its cost. */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { LocalCluster } from "@jobferry/test/harness/real-cluster.ts";
import type { RealCluster } from "@jobferry/test/harness/real-cluster-options.ts";
import type { TestCluster } from "@jobferry/test/harness/test-cluster.ts";
import { cpuSeconds } from "../job-controller/counters.ts";
import { sum } from "../job-controller/figures.ts";
import { split, type Use, type Uses, type Writes } from "./figures.ts";

/** No write for this long: everything is done, events included. Longer than any batch on the way. */
const QUIET_MS = 1_500;
const MOST_QUIET_CHECKS = 60;

const WRITING = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"]);

/** Every request since the server's start that was meant to change something, whether it succeeded or not. */
export async function writesOf(clusters: readonly TestCluster[]): Promise<Writes> {
  const counts: Record<string, number> = {};
  for (const cluster of clusters) {
    const { status, text } = await cluster.request("/metrics");
    if (status !== 200) throw new Error(`the API server's metrics cannot be read: ${status}`);
    for (const [kind, count] of writesIn(text)) counts[kind] = (counts[kind] ?? 0) + count;
  }
  return counts;
}

/** The same, once no Job causes writes any more. */
export async function writesWhenQuiet(
  hub: TestCluster,
  workers: readonly TestCluster[],
): Promise<{ hub: Writes; workers: Writes }> {
  const read = async () => ({ hub: await writesOf([hub]), workers: await writesOf(workers) });
  const ofJobs = (writes: { hub: Writes; workers: Writes }): number =>
    sum([...Object.values(split(writes.hub).ofJobs), ...Object.values(split(writes.workers).ofJobs)]);
  let last = await read();
  for (let check = 0; check < MOST_QUIET_CHECKS; check++) {
    await delay(QUIET_MS);
    const now = await read();
    if (ofJobs(now) === ofJobs(last)) break;
    last = now;
  }
  return last;
}

function* writesIn(metrics: string): Generator<[kind: string, count: number]> {
  for (const line of metrics.split("\n")) {
    const sample = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line);
    if (sample === null) continue;
    const [, labels = "", value] = sample;
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    if (!WRITING.has(label("verb")) || label("dry_run") !== "") continue;
    yield [`${label("verb")} ${label("resource")}${label("subresource") && `/${label("subresource")}`}`, Number(value)];
  }
}

export type Pids = Readonly<Record<string, readonly number[]>>;

/** The processes of a real cluster; `kubelets` stand in for nodes. */
export function pidsOf(cluster: RealCluster): { apiServer: number[]; kubelet: number[] } {
  const { controlPlane } = localOf(cluster);
  const pid = (program: string): number => controlPlane.process(program).pid;
  let kubelet: number[] = [];
  try {
    kubelet = [pid("instant-pods")];
  } catch {
    // A hub has none.
  }
  return { apiServer: [pid("kube-apiserver"), pid("etcd")], kubelet };
}

export function localOf(cluster: RealCluster): LocalCluster {
  if (!("controlPlane" in cluster))
    throw new Error("unset JOBFERRY_TEST_CLUSTER: only local processes can be measured");
  return cluster as LocalCluster;
}

export async function usesOf(parts: Pids): Promise<Uses> {
  const read = async ([part, pids]: [string, readonly number[]]): Promise<[string, Use]> => {
    const cpu = await Promise.all(pids.map(cpuSeconds));
    const resident = await Promise.all(pids.map(residentMiB));
    return [part, { cpuSeconds: sum(cpu), residentMiB: sum(resident) }];
  };
  return Object.fromEntries(await Promise.all(Object.entries(parts).map(read)));
}

/** CPU time used between the two; memory as it is now. */
export const usedSince = (before: Uses, after: Uses): Uses =>
  Object.fromEntries(
    Object.entries(after).map(([part, { cpuSeconds, residentMiB }]) => [
      part,
      { cpuSeconds: cpuSeconds - (before[part]?.cpuSeconds ?? 0), residentMiB },
    ]),
  );

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
