/** How fast logs cross, how late they are, and what they do to dispatch. */
import { setTimeout as delay } from "node:timers/promises";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { type FleetNamespace, forever } from "@jobferry/test/e2e/dispatch/fleet-namespace.ts";
import type { StandInLogFleet } from "@jobferry/test/e2e/pods/log-fleet.ts";
import { percentile } from "../dispatch/figures.ts";
import type { Streams } from "./figures.ts";
import { singles } from "./jobs.ts";

type Client = Awaited<ReturnType<typeof openClient>>["api"];
interface Source {
  readonly api: Client;
  readonly namespace: string;
  readonly name: string;
}

const LIMIT_MS = 300_000;

export interface StreamSizes {
  readonly oneMB: number;
  readonly readers: number;
  readonly eachMB: number;
  readonly jobs: number;
  readonly lines: number;
}

export async function streams(log: StandInLogFleet, jobsAt: FleetNamespace, sizes: StreamSizes): Promise<Streams> {
  const { fleet } = log;
  const at = await fleet.namespace("streams");
  await at.submit("writer", { pod: forever });
  await fleet.until("the pod is shown as running", async () => {
    return (await fleet.hub.api.list(pods, { namespace: at.name })).items[0]?.status?.phase === "Running";
  });
  const source = async (kubeconfig: string, namespace: string): Promise<Source> => {
    const { api } = await openClient({ kubeconfig }, {}, {});
    const { items } = await api.list(pods, { namespace });
    return { api, namespace, name: items[0]?.metadata.name ?? "" };
  };
  const hub = await source(fleet.hub.kubeconfigPath, at.name);
  const direct = await source(fleet.worker("east").kubeconfigPath, at.mapped);
  try {
    const oneMBs = { direct: [] as number[], hub: [] as number[] };
    serveMB(log, at, sizes.oneMB);
    for (let turn = 0; turn < 3; turn++) {
      oneMBs.direct.push(await rate(() => read(direct)));
      oneMBs.hub.push(await rate(() => read(hub)));
    }
    const alone = percentile((await singles(fleet, jobsAt, sizes.jobs, true)).completeMs, 0.99);
    serveMB(log, at, sizes.eachMB);
    const redis = watchRedis(log);
    const reading = rate(async () => {
      const all = await Promise.all(Array.from({ length: sizes.readers }, () => read(hub)));
      return all.reduce((sum, bytes) => sum + bytes, 0);
    });
    const beside = percentile((await singles(fleet, jobsAt, sizes.jobs, true)).completeMs, 0.99);
    const many = { readers: sizes.readers, mbs: await reading, redisMiB: await redis.stop() };
    const latencyMs = {
      direct: await latency(log, at, direct, sizes.lines),
      hub: await latency(log, at, hub, sizes.lines),
    };
    return { oneMBs, many, dispatchP99Ms: { alone, beside }, latencyMs };
  } finally {
    await Promise.all([hub.api.close(), direct.api.close()]);
  }
}

function serveMB({ kubelet }: StandInLogFleet, at: FleetNamespace, megabytes: number): void {
  const block = Buffer.alloc(250_000, "what a container writes, line by line\n");
  kubelet.serve(at.mapped, async (_, response) => {
    for (let part = 0; part < 4 * megabytes; part++)
      if (!response.write(block)) await new Promise((resolve) => response.once("drain", resolve));
    response.end();
  });
}

async function read({ api, namespace, name }: Source): Promise<number> {
  let bytes = 0;
  const chunks = await api.readLog({ namespace, name }, { container: "main" }, AbortSignal.timeout(LIMIT_MS));
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

/** Megabytes per second. */
async function rate(work: () => Promise<number>): Promise<number> {
  const began = performance.now();
  const bytes = await work();
  return bytes / 1000 / (performance.now() - began);
}

function watchRedis({ fleet }: StandInLogFleet): { stop(): Promise<number> } {
  const used = async (): Promise<number> =>
    Number(/^used_memory:(\d+)/m.exec(await fleet.redis.info("memory"))?.[1]) / 2 ** 20;
  let isOver = false;
  const looking = (async (): Promise<number> => {
    const before = await used();
    let most = 0;
    while (!isOver) {
      most = Math.max(most, (await used()) - before);
      await delay(50);
    }
    return most;
  })();
  return {
    stop: () => {
      isOver = true;
      return looking;
    },
  };
}

/** From the kubelet's write to the reader, of lines that come one at a time. */
async function latency(
  { kubelet }: StandInLogFleet,
  at: FleetNamespace,
  from: Source,
  lines: number,
): Promise<number[]> {
  kubelet.serve(at.mapped, async (_, response) => {
    for (let line = 0; line < lines; line++) {
      response.write(`${performance.now()}\n`);
      await delay(20);
    }
    response.end();
  });
  const { api, namespace, name } = from;
  const late: number[] = [];
  const options = { container: "main", follow: true };
  for await (const chunk of await api.readLog({ namespace, name }, options, AbortSignal.timeout(LIMIT_MS))) {
    const now = performance.now();
    for (const line of Buffer.from(chunk).toString().trim().split("\n")) late.push(now - Number(line));
  }
  return late;
}
