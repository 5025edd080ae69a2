/** `jobferry-manager`: the manager as a service, with its Lease, its Redis connection and its status port. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { fencedApi } from "@jobferry/shared/kube/fenced-api.ts";
import { LeaderElector } from "@jobferry/shared/kube/lease.ts";
import {
  clientMetrics,
  createRegistry,
  eventMetrics,
  refusalMetrics,
  workQueueMetrics,
} from "@jobferry/shared/kube/metrics.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { readOwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { MAX_REPORTED_PODS } from "@jobferry/shared/protocol/limits.ts";
import type { Quarantined } from "@jobferry/shared/queue/bus.ts";
import { redisFlags } from "@jobferry/shared/queue/redis-access.ts";
import { openRedisBus, readRedisFlags } from "@jobferry/shared/queue/redis-flags.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError, type ConfigSources, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { startStatusServer } from "@jobferry/shared/runtime/http.ts";
import { createLogger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import { z } from "zod";
import { Manager } from "./manager.ts";
import { managerMetrics } from "./metrics.ts";
import { DEFAULT_POD_SETTINGS } from "./pods/settings.ts";
import { removeShadows } from "./pods/uninstall.ts";
import { startLogs } from "./readings/logs-of-flags.ts";

export const managerConfig = z.object({
  kubeconfig: z
    .string()
    .optional()
    .describe("kubeconfig file of the hub; else KUBECONFIG, the pod's service account, ~/.kube/config"),
  context: z.string().optional().describe("context of the kubeconfig; else its current one"),
  ...redisFlags,
  keyFile: z
    .string()
    .describe(
      "the manager's X25519 private key in PEM; agents pin its public half. While keys are changed, a second one below",
    ),
  leaseNamespace: z
    .string()
    .min(1)
    .default("jobferry-system")
    .describe("namespace of the Lease that picks the leading manager"),
  leaseName: z.string().min(1).default("jobferry-manager").describe("name of that Lease"),
  metricsPort: z.int().min(0).max(65_535).default(8080).describe("port of /healthz, /readyz and /metrics; 0: any"),
  metricsHost: z.string().default("127.0.0.1").describe("address of that port; 0.0.0.0 for a kubelet's probes"),
  deletionBoundSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .default(60)
    .describe("how long a cluster that does not answer may hold up the deletion of a Job"),
  pods: z
    .enum(["none", "shadow"])
    .default("none")
    .describe("whether pods of dispatched Jobs are shown on the hub; shadow needs the rights of deploy/hub-pods"),
  maxShadowPods: z
    .int()
    .min(1)
    .max(MAX_REPORTED_PODS)
    .default(DEFAULT_POD_SETTINGS.maxShadowPods)
    .describe("how many pods of one Job are shown, the failed ones first"),
  maxEarlyShadows: z
    .int()
    .min(0)
    .max(100_000)
    .default(DEFAULT_POD_SETTINGS.maxEarlyShadows)
    .describe(
      "how many pods are shown at a time that do not exist yet, because their Jobs wait or have just been placed",
    ),
  kubeletPort: z
    .int()
    .min(0)
    .max(65_535)
    .default(10_250)
    .describe("port at which the API server reads logs of shown pods; 0: any"),
  kubeletHost: z.string().default("127.0.0.1").describe("address of that port; 0.0.0.0 in a pod"),
  kubeletAddress: z
    .string()
    .optional()
    .describe(
      "IP address at which the API server reaches that port, as the node says it; unless set, no logs can be read",
    ),
  kubeletAdvertisedPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe("port at that address, where a Service or a load balancer stands in between"),
  kubeletClientName: z
    .string()
    .min(1)
    .optional()
    .describe("common name of the API server's client certificate; else who may use nodes/proxy of node jobferry"),
  kubeletCertFile: z
    .string()
    .optional()
    .describe(
      "certificate of that port in PEM, for an API server with --kubelet-certificate-authority; else one is made",
    ),
  kubeletKeyFile: z.string().optional().describe("private key of that certificate in PEM"),
  logsPort: z
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      "port at which jobferry logs reads logs of Jobs whose pods the hub does not show; 0: any; unless set, none",
    ),
  logsHost: z.string().default("127.0.0.1").describe("address of that port; 0.0.0.0 in a pod"),
  logsCertFile: z
    .string()
    .optional()
    .describe("certificate of that port in PEM, where others than the API server reach it; else one is made"),
  logsKeyFile: z.string().optional().describe("private key of that certificate in PEM"),
  logLevel: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("least level logged"),
});

type ManagerConfig = z.output<typeof managerConfig>;

export const readManagerConfig = (given: ConfigSources): ManagerConfig => loadConfig(managerConfig, given);

/** Runs until SIGTERM or SIGINT; leads while it holds the Lease, stands by otherwise. */
export async function runManager(config: ManagerConfig, env: NodeJS.ProcessEnv): Promise<void> {
  const logger = createLogger({ name: "jobferry-manager", level: config.logLevel });
  const keys = await readOwnKeys(config.keyFile).catch((cause: unknown) => {
    throw new ConfigError(`--key-file ${config.keyFile} cannot be used: ${(cause as Error).message}`, {
      cause,
    });
  });
  const shutdown = onShutdown({ deadlineMs: 10_000, logger });
  const registry = createRegistry();
  const onRefused = refusalMetrics(registry);
  const onEventDropped = eventMetrics(registry);
  const { api } = await openClient(config, env, { userAgent: "jobferry-manager", onRequest: clientMetrics(registry) });
  let manager: Manager | undefined;
  const onQuarantine = (message: Quarantined): void => {
    onRefused("cluster" in message.address ? message.address.cluster : "", message.code);
    manager?.messageRefused(message);
  };
  const bus = await openRedisBus(config, { clock: realClock, logger, onQuarantine });
  const metrics = managerMetrics(registry, () => manager?.status);
  const queueMetrics = workQueueMetrics(registry);
  const logs = await startLogs(api, config, readRedisFlags(config), logger, () => manager);
  const elector = new LeaderElector({
    api,
    clock: realClock,
    logger,
    lease: { namespace: config.leaseNamespace, name: config.leaseName },
    identity: `${hostname()}_${randomUUID()}`,
    lead: async (signal, holds) => {
      if (config.pods === "none") await removeShadows(api, logger);
      manager = new Manager({
        api: fencedApi(api, holds),
        bus,
        clock: realClock,
        logger,
        keys,
        onRefused,
        onEventDropped,
        metrics,
        queueMetrics,
        deletionBoundMs: config.deletionBoundSeconds * 1000,
        pods: config.pods === "none" ? undefined : config,
        kubelet: logs.kubelet,
        hubVersion: await api.serverVersion().catch(() => undefined),
      });
      await manager.run(signal);
      manager = undefined;
      logs.handOver();
    },
  });
  const status = await startStatusServer({
    host: config.metricsHost,
    port: config.metricsPort,
    registry,
    // A standby is ready to take over: only a leader has caches to fill.
    notReady: () => [
      ...(bus.reachable ? [] : ["Redis is not reachable"]),
      ...(manager === undefined || manager.ready ? [] : ["the caches of the hub are not filled yet"]),
    ],
  });
  logger.info({ server: api.server, status: status.url, logsPort: logs.port }, "manager running");
  await Promise.race([elector.start(shutdown.signal), logs.failed]);
  await logs.close();
  await Promise.all([bus.close(3_000), api.close(), status.close()]);
  shutdown.dispose();
}
