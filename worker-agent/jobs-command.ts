/** `jobferry-agent jobs`: the Job controller alone, without Redis and without a hub. */

import { clientMetrics, createRegistry } from "@jobferry/shared/kube/metrics.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { aborted } from "@jobferry/shared/runtime/aborted.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError, type ConfigSources, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { startStatusServer } from "@jobferry/shared/runtime/http.ts";
import { createLogger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import { z } from "zod";
import type { Claim } from "./job-controller/core/admit.ts";
import { defaultLimits, type Limits } from "./job-controller/core/types.ts";
import { runJobController } from "./job-controller/run.ts";

const milliseconds = (value: number, meaning: string) =>
  z.int().min(0).max(86_400_000).default(value).describe(`${meaning}, in milliseconds`);
const amount = (value: number, meaning: string) => z.int().min(1).max(100_000).default(value).describe(meaning);

export const jobsConfig = z.object({
  kubeconfig: z
    .string()
    .optional()
    .describe("kubeconfig file; else KUBECONFIG, the pod's service account, ~/.kube/config"),
  context: z.string().optional().describe("context of the kubeconfig; else its current one"),
  managedBy: z.string().min(1).max(63).optional().describe("run the Jobs whose spec.managedBy is exactly this"),
  unmanaged: z.boolean().default(false).describe("run the Jobs of the built-in controller, which must be switched off"),
  namespace: z.string().min(1).optional().describe("only this namespace; else all"),
  metricsPort: z.int().min(0).max(65_535).default(8080).describe("port of /healthz, /readyz and /metrics; 0: any"),
  metricsHost: z.string().default("127.0.0.1").describe("address of that port; 0.0.0.0 for a kubelet's probes"),
  workers: amount(5, "Jobs synced at once"),
  qps: z.number().min(0).max(100_000).default(0).describe("writes per second on average; 0: not limited"),
  burst: amount(100, "writes at once when --qps limits them"),
  eventQps: z
    .number()
    .min(0.1)
    .max(100_000)
    .default(10)
    .describe("Normal events per second on average, of all Jobs; warnings are not counted"),
  eventBurst: amount(100, "Normal events at once"),
  logLevel: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("least level logged"),
  syncBatchMs: milliseconds(defaultLimits.syncBatchMs, "how long changes of a busy Job are gathered"),
  podFailureBackoffMs: milliseconds(defaultLimits.podFailureBackoffMs, "wait before the first failed pod is replaced"),
  maxPodFailureBackoffMs: milliseconds(defaultLimits.maxPodFailureBackoffMs, "longest such wait"),
  maxUncountedPods: amount(defaultLimits.maxUncountedPods, "finished pods accounted per sync"),
  maxPodsPerSync: amount(defaultLimits.maxPodsPerSync, "pods created or deleted per sync"),
});

type JobsConfig = z.output<typeof jobsConfig>;

/** The names under which Kubernetes' own test suite passes its constants; they stand for our own when those are not set. */
const LIMIT_VARIABLES = [
  "SYNC_BATCH_MS",
  "POD_FAILURE_BACKOFF_MS",
  "MAX_POD_FAILURE_BACKOFF_MS",
  "MAX_UNCOUNTED_PODS",
  "MAX_PODS_PER_SYNC",
];

function withLimitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const aliases = LIMIT_VARIABLES.flatMap((name) =>
    env[`JOB_${name}`] === undefined ? [] : [[`JOBFERRY_${name}`, env[`JOB_${name}`]]],
  );
  return { ...Object.fromEntries(aliases), ...env };
}

export function readJobsConfig(given: ConfigSources): JobsConfig {
  const config = loadConfig(jobsConfig, { ...given, env: withLimitVariables(given.env ?? {}) });
  claimOf(config);
  return config;
}

function claimOf({ managedBy, unmanaged }: JobsConfig): Claim {
  if (unmanaged && managedBy !== undefined)
    throw new ConfigError("--managed-by and --unmanaged exclude each other: give one of them");
  if (unmanaged) return "unmanaged";
  if (managedBy === undefined)
    throw new ConfigError("give --managed-by VALUE to run the Jobs that name it, or --unmanaged to run all others");
  return { managedBy };
}

/** Runs until SIGTERM or SIGINT. */
export async function runJobs(config: JobsConfig, env: NodeJS.ProcessEnv): Promise<void> {
  const logger = createLogger({ name: "jobferry-agent", level: config.logLevel });
  const registry = createRegistry();
  const shutdown = onShutdown({ deadlineMs: 4500, logger });
  const { namespace } = config;
  const onRequest = clientMetrics(registry);
  const { api } = await openClient(config, env, { userAgent: "jobferry-agent/jobs", onRequest });
  const controller = runJobController({
    api,
    clock: realClock,
    claim: claimOf(config),
    logger,
    registry,
    workers: config.workers,
    limits: limitsOf(config),
    normalEvents: { perSecond: config.eventQps, burst: config.eventBurst },
    ...(namespace !== undefined && { namespace }),
    ...(config.qps > 0 && { rate: { perSecond: config.qps, burst: config.burst } }),
  });
  const status = await startStatusServer({
    host: config.metricsHost,
    port: config.metricsPort,
    registry,
    notReady: () => (controller.ready ? [] : ["the caches of Jobs and pods are not filled yet"]),
  });
  logger.info({ server: api.server, status: status.url }, "running Jobs");
  await Promise.race([controller.started, aborted(shutdown.signal)]);
  if (!shutdown.signal.aborted) logger.info({}, "caches are filled");
  await aborted(shutdown.signal);
  await controller.stop();
  await Promise.all([api.close(), status.close()]);
  shutdown.dispose();
}

const limitsOf = (config: JobsConfig): Partial<Limits> => ({
  syncBatchMs: config.syncBatchMs,
  podFailureBackoffMs: config.podFailureBackoffMs,
  maxPodFailureBackoffMs: config.maxPodFailureBackoffMs,
  maxUncountedPods: config.maxUncountedPods,
  maxPodsPerSync: config.maxPodsPerSync,
});
