/** A process full of worker clusters: sandbox clusters, each with the agent that a real one would have. */
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { parseOwnKeys, parsePublicKey } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { parseRedisConfig } from "@jobferry/shared/queue/redis-config.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { generateMirrorKey, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import type { Enrolled } from "./enrol.ts";
import type { MirrorSeen } from "./many-workers.ts";

const START_MS = 60_000;
const POD_MS = 100;

async function startWorker({ name, key, managerKey, redisUrl }: Enrolled): Promise<void> {
  const cluster = new SandboxCluster({
    name,
    kubelet: "virtual",
    nodes: [{ cpu: "64", memory: "256Gi", pods: 1_000 }],
    behaviour: () => ({ runMs: POD_MS }),
  });
  await cluster.start();
  const bus = new RedisBus({
    config: parseRedisConfig({ url: redisUrl }),
    clock: realClock,
    logger: silentLogger,
    agentOf: parseClusterName(name),
  });
  await bus.start(START_MS);
  const agent = new Agent({
    ...{ api: cluster.apiFor("agent"), bus, clock: realClock, logger: silentLogger },
    cluster: parseClusterName(name),
    keys: parseOwnKeys(key),
    managerKeys: [parsePublicKey(managerKey)],
    mirrorKeys: parseMirrorKeys(generateMirrorKey()),
    ...{ version: "bench", kubernetesVersion: "v1.36.3" },
  });
  const mirrors = new Reflector<Job>({ api: cluster.api, resource: jobs, clock: realClock });
  mirrors.addHandler({ added: ({ metadata }) => tell(metadata.name ?? "") });
  const { signal } = new AbortController();
  Promise.all([agent.run(signal), mirrors.start(signal)]).catch((error: unknown) => {
    console.error(`worker ${name} ended: ${String(error)}`);
    process.exit(1);
  });
}

function tell(job: string): void {
  const seen: MirrorSeen = { job, atMs: performance.timeOrigin + performance.now() };
  process.send?.(seen);
}

process.once("message", async (clusters) => {
  for (const cluster of clusters as Enrolled[]) await startWorker(cluster);
});
process.once("disconnect", () => process.exit(0));
