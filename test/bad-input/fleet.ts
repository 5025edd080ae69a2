/** A real hub, a real worker and a real Redis with manager and agent in this process, so that a test can forge their messages. */

import { join } from "node:path";
import { Manager } from "@jobferry/manager/manager.ts";
import { KUBERNETES_VERSION } from "@jobferry/sandbox/version.ts";
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { events, jobs } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair, type KeyPair } from "@jobferry/shared/protocol/keys.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { Sealer } from "@jobferry/shared/protocol/sealer.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { generateMirrorKey, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import { until as untilTrue } from "../fleet/until.ts";
import { realCluster } from "../harness/real-cluster.ts";
import type { RealCluster } from "../harness/real-cluster-options.ts";
import { startRedis } from "../harness/redis.ts";
import { outputOf } from "../harness/run-command.ts";

export const EAST = parseClusterName("east");
const crds = join(import.meta.dirname, "../../deploy/crds");

interface Line {
  message: string;
  fields: object;
}

export interface ForgeableFleet {
  readonly hub: RealCluster;
  readonly worker: RealCluster;
  readonly redisUrl: string;
  /** An envelope with this payload for the manager, sealed with the agent's key unless another is given. */
  sealed(payload: string, key?: KeyPair): string;
  /** An agent's connection, for messages of any kind. */
  readonly bus: RedisBus;
  /** `cluster code` of every message that was not acted upon, as the metric counts them. */
  readonly refused: string[];
  /** Warnings of the manager. */
  readonly warnings: Line[];
  submit(name: string, spec?: Partial<JobSpec>, metadata?: Partial<Job["metadata"]>): Promise<Job>;
  job(name: string): Promise<Job>;
  mirror(name: string): Promise<Job | undefined>;
  untilFinished(name: string): Promise<Job>;
  /** `reason: message` of the events of a Job or WorkerCluster. */
  eventsOf(name: string): Promise<string[]>;
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  stop(): Promise<void>;
}

export async function startForgeableFleet(): Promise<ForgeableFleet> {
  const [hub, worker, redis] = await Promise.all([
    realCluster(),
    realCluster({ controllers: ["garbage-collector-controller"], instantPods: true }),
    startRedis(),
  ]);
  const stop = new AbortController();
  const [agentKeys, managerKeys] = [generateKeyPair(), generateKeyPair()];
  const refused: string[] = [];
  const warnings: Line[] = [];
  const logger = collecting(warnings);
  const established = ["crd/workerclusters.jobferry.dev", "crd/jobqueues.jobferry.dev"];
  await outputOf(hub.kubectl("apply", "-k", crds));
  await outputOf(hub.kubectl("wait", "--for=condition=established", ...established));
  await hub.api.create(workerClusters, undefined, {
    apiVersion: "jobferry.dev/v1alpha1",
    kind: "WorkerCluster",
    metadata: { name: EAST },
    spec: { publicKey: agentKeys.publicKey.text },
  });

  const onRefused = (cluster: string, code: string): void => void refused.push(`${cluster} ${code}`);
  const connection = { config: { url: redis.url }, clock: realClock, logger };
  const managerBus = new RedisBus({
    ...connection,
    onQuarantine: (message) => {
      onRefused("cluster" in message.address ? message.address.cluster : "", message.code);
      manager.messageRefused(message);
    },
  });
  const common = { clock: realClock, logger };
  const manager = new Manager({ ...common, keys: [managerKeys], api: hub.api, bus: managerBus, onRefused });
  const bus = new RedisBus(connection);
  const agent = new Agent({
    ...common,
    api: worker.api,
    bus,
    cluster: EAST,
    keys: [agentKeys],
    managerKeys: [managerKeys.publicKey],
    mirrorKeys: parseMirrorKeys(generateMirrorKey()),
    version: "test",
    kubernetesVersion: KUBERNETES_VERSION,
    retentionMs: 0,
  });
  const sealer = new Sealer([agentKeys]);
  const running = [manager.run(stop.signal), agent.run(stop.signal)];

  const explain = (): string => JSON.stringify({ refused: refused.slice(-20), warnings: warnings.slice(-20) }, null, 1);
  const until: ForgeableFleet["until"] = async (what, holds) => {
    await untilTrue(what, holds, { explain });
  };
  const fleet: ForgeableFleet = {
    hub,
    worker,
    redisUrl: redis.url,
    sealed(payload, key) {
      const by = key === undefined ? sealer : new Sealer([key]);
      return by.seal(payload, { direction: "report", cluster: EAST }, managerKeys.publicKey);
    },
    bus,
    refused,
    warnings,
    submit: (name, spec = {}, metadata = {}) =>
      hub.api.create(jobs, "default", {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name, ...metadata },
        spec: {
          managedBy: HUB_MANAGED_BY,
          ...spec,
          template: spec.template ?? {
            spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] },
          },
        },
      }),
    job: (name) => hub.api.get(jobs, { namespace: "default", name }),
    async mirror(name) {
      try {
        return await worker.api.get(jobs, { namespace: "default", name });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async untilFinished(name) {
      await until(`${name} is finished`, async () => isFinished(await fleet.job(name)));
      return await fleet.job(name);
    },
    async eventsOf(name) {
      const { items } = await hub.api.list(events, { fieldSelector: `involvedObject.name=${name}` });
      return items.map(({ reason, message }) => `${reason}: ${message}`);
    },
    until,
    async stop() {
      stop.abort();
      await Promise.all(running);
      await Promise.all([managerBus.close(1_000), bus.close(1_000)]);
      await Promise.all([hub.stop(), worker.stop(), redis.stop()]);
    },
  };
  await until("the cluster is ready", async () => {
    const { status } = await hub.api.get(workerClusters, { name: EAST });
    return status?.conditions?.some(({ type, status: holds }) => type === "Ready" && holds === "True") ?? false;
  });
  return fleet;
}

function collecting(lines: Line[]): Logger {
  const keep = (fields: object, message: string): void => void lines.push({ fields, message });
  const logger: Logger = { debug() {}, info() {}, warn: keep, error: keep, child: () => logger };
  return logger;
}
