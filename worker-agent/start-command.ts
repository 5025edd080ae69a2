/** `jobferry-agent start`: this cluster's side of the fleet. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { fencedApi } from "@jobferry/shared/kube/fenced-api.ts";
import { LeaderElector } from "@jobferry/shared/kube/lease.ts";
import { clientMetrics, createRegistry, refusalMetrics } from "@jobferry/shared/kube/metrics.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { leases } from "@jobferry/shared/kube/resources.ts";
import { parsePeerKeys, readOwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { MAX_MANAGER_KEYS } from "@jobferry/shared/protocol/limits.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { redisFlags } from "@jobferry/shared/queue/redis-access.ts";
import { followRedis, readRedisFlags } from "@jobferry/shared/queue/redis-flags.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError, type ConfigSources, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { startStatusServer } from "@jobferry/shared/runtime/http.ts";
import { createLogger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import { Registry } from "prom-client";
import { z } from "zod";
import type { AcceptancePolicy } from "./acceptance/acceptance.ts";
import type { NewNamespaces } from "./acceptance/namespace-maker.ts";
import { Agent } from "./agent.ts";
import packageJson from "./package.json" with { type: "json" };
import { logThread } from "./pods/log-thread.ts";
import { readMirrorKeys } from "./proofs.ts";

export const startConfig = z.object({
  cluster: z.string().min(1).describe("name under which this cluster is enrolled on the hub"),
  kubeconfig: z
    .string()
    .optional()
    .describe("kubeconfig file of this cluster; else KUBECONFIG, the pod's service account, ~/.kube/config"),
  context: z.string().optional().describe("context of the kubeconfig; else its current one"),
  ...redisFlags,
  keyFile: z
    .string()
    .describe(
      "this agent's X25519 private key in PEM; its public half stands in the WorkerCluster. While keys are changed, a second one below",
    ),
  managerKey: z
    .array(z.string())
    .min(1)
    .max(MAX_MANAGER_KEYS)
    .describe("the manager's public key; while keys are changed the next one too, after a comma"),
  controller: z
    .enum(["agent", "builtin"])
    .default("agent")
    .describe("who runs the mirrors: this agent, or the cluster's own Job controller"),
  agentNamespace: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
    .default("jobferry-system")
    .describe("this agent's own namespace, where it keeps its mirror key; two agents on one cluster need one each"),
  namespaces: z
    .array(z.string().regex(/^(\*|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/))
    .max(1_000)
    .default([])
    .describe(
      "namespaces of this cluster that take Jobs of the hub; unless given those labelled jobferry.dev/accept=enabled, * for all but the system's",
    ),
  allowPrivileged: z
    .boolean()
    .default(false)
    .describe("also run pods that reach the node (privileged, hostPath, hostNetwork...) or act as any service account"),
  createNamespaces: z
    .enum(["off", "labelled"])
    .default("off")
    .describe(
      "labelled: create the namespace of a Job that comes, if it matches --namespace-pattern, with the label jobferry.dev/accept=enabled; needs deploy/worker/namespaces.yaml",
    ),
  namespacePattern: z
    .array(z.string().regex(/^(?=.{1,63}$)[-a-z0-9]*(\*[-a-z0-9]*){0,3}$/))
    .max(64)
    .default([])
    .describe("namespaces of this cluster that --create-namespaces may create, * for any characters: team-*,ci"),
  namespacePodSecurity: z
    .enum(["restricted", "baseline", "privileged"])
    .default("baseline")
    .describe("what Pod Security enforces in created namespaces; privileged only with --allow-privileged"),
  namespacePrefix: z
    .string()
    .max(40)
    .default("")
    .describe("put before a hub namespace to get this cluster's; needed when the hub is its own worker"),
  retentionSeconds: z
    .int()
    .min(0)
    .max(2_592_000)
    .default(600)
    .describe("how long a finished Job stays here after the hub has its result"),
  mirrorEvents: z
    .enum(["warnings", "all"])
    .default("warnings")
    .describe(
      "events about mirrors on this cluster; all adds SuccessfulCreate, Completed and the like, two writes a Job",
    ),
  acceptReferences: z
    .array(z.enum(["configmaps", "secrets", "none"]))
    .max(3)
    .default(["configmaps"])
    .describe(
      "what of the hub may be copied to this cluster, for Jobs that refer to it: configmaps,secrets; Secrets need deploy/worker/secrets.yaml",
    ),
  nodeLabels: z
    .array(z.string().regex(/^[^*\s]+\*?$/))
    .max(64)
    .default([])
    .describe("labels of nodes that Jobs may choose by, besides the well-known ones: disktype,example.com/*"),
  identity: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      "whose the Lease is; the pod's UID lets a restarted container go on at once. Else a new name for each process",
    ),
  metricsPort: z.int().min(0).max(65_535).default(8080).describe("port of /healthz, /readyz and /metrics; 0: any"),
  metricsHost: z.string().default("127.0.0.1").describe("address of that port; 0.0.0.0 for a kubelet's probes"),
  logLevel: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("least level logged"),
});

type StartConfig = z.output<typeof startConfig>;

export const readStartConfig = (given: ConfigSources): StartConfig => loadConfig(startConfig, given);

/** Runs until SIGTERM or SIGINT. */
export async function runStart(config: StartConfig, env: NodeJS.ProcessEnv): Promise<void> {
  const logger = createLogger({ name: "jobferry-agent", level: config.logLevel });
  const cluster = checked("--cluster", () => parseClusterName(config.cluster));
  const managerKeys = checked("--manager-key", () => parsePeerKeys(config.managerKey));
  const keys = await readOwnKeys(config.keyFile).catch((cause: unknown) => {
    throw new ConfigError(`--key-file ${config.keyFile} cannot be used: ${(cause as Error).message}`, {
      cause,
    });
  });
  const shutdown = onShutdown({ deadlineMs: 10_000, logger });
  const registry = createRegistry();
  const refused = refusalMetrics(registry);
  const { api, version: kubernetesVersion } = await openClient(config, env, {
    userAgent: "jobferry-agent/start",
    onRequest: clientMetrics(registry),
  });
  const mirrorKeys = await readMirrorKeys(api, config.agentNamespace).catch(async (cause: unknown) => {
    await api.close();
    throw new ConfigError(`--agent-namespace: ${(cause as Error).message}`, { cause });
  });
  const redis = followRedis(config, {
    clock: realClock,
    logger,
    agentOf: cluster,
    onQuarantine: ({ code }) => refused(cluster, code),
  });
  const { bus } = redis;
  const accept: AcceptancePolicy = {
    namespaces: servedNamespaces(config.namespaces),
    agentNamespace: config.agentNamespace,
    allowPrivileged: config.allowPrivileged,
    create: newNamespaces(config),
  };
  const { kubeconfig, context, logLevel } = config;
  const threadEnv = {
    KUBECONFIG: env.KUBECONFIG,
    HOME: env.HOME,
    KUBERNETES_SERVICE_HOST: env.KUBERNETES_SERVICE_HOST,
  };
  const forLogs = { redis: readRedisFlags(config), cluster, kubeconfig, context, env: threadEnv, logLevel };
  const lease = { namespace: config.agentNamespace, name: "jobferry-agent" };
  let tenure: { readonly agent: Agent; readonly registry: Registry } | undefined;
  const elector = new LeaderElector({
    api,
    clock: realClock,
    logger,
    lease,
    identity: config.identity ?? `${hostname()}_${randomUUID()}`,
    // While the API server is away nobody can take the Lease, and the manager should go on hearing from this cluster.
    atDeadline: "hold",
    lead: async (signal, holds) => {
      const own = new Registry();
      const agent = new Agent({
        api: fencedApi(api, holds),
        bus,
        clock: realClock,
        logger,
        registry: own,
        cluster,
        keys,
        managerKeys,
        mirrorKeys,
        version: packageJson.version,
        kubernetesVersion,
        accept,
        controller: config.controller,
        mapNamespace: (namespace) => `${config.namespacePrefix}${namespace}`,
        retentionMs: config.retentionSeconds * 1000,
        mirrorEvents: config.mirrorEvents,
        nodeLabels: config.nodeLabels,
        logs: (pods) => logThread(forLogs, pods, logger),
        acceptReferences: acceptedKinds(config),
      });
      tenure = { agent, registry: own };
      await agent.run(signal);
      tenure = undefined;
    },
  });
  const status = await startStatusServer({
    host: config.metricsHost,
    port: config.metricsPort,
    registry: {
      contentType: registry.contentType,
      metrics: async () => [await registry.metrics(), (await tenure?.registry.metrics()) ?? ""].join("\n"),
    },
    // A standby is ready to take over: only who works has caches to fill.
    notReady: () => [
      ...[redis.problem() ?? []].flat(),
      ...(elector.problem === undefined ? [] : [`the Lease ${lease.namespace}/${lease.name}: ${elector.problem}`]),
      ...(tenure === undefined || tenure.agent.ready ? [] : ["the caches of this cluster are not filled yet"]),
    ],
  });
  logger.info({ cluster, server: api.server, status: status.url }, "agent running");
  // The Jobs of this cluster run whether Redis answers or not; only a Redis that turns us away for good ends the program.
  const turnedAway = new AbortController();
  redis.admitted.catch((error: unknown) => turnedAway.abort(error));
  try {
    await checkRights(api, lease);
    await elector.start(AbortSignal.any([shutdown.signal, turnedAway.signal]));
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    throw new ConfigError(`${api.server}: ${cause.message}; deploy/worker has the rights an agent needs`, { cause });
  } finally {
    await Promise.all([bus.close(3_000), api.close(), status.close()]);
    shutdown.dispose();
  }
  turnedAway.signal.throwIfAborted();
}

/** Who may not read the Lease would wait for it for ever. */
async function checkRights(api: KubeApi, lease: Required<ObjectKey>): Promise<void> {
  try {
    await api.get(leases, lease);
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) throw error;
  }
}

const servedNamespaces = (named: readonly string[]): AcceptancePolicy["namespaces"] =>
  named.length === 0 ? "labelled" : named.includes("*") ? "all" : new Set(named);

function newNamespaces(config: StartConfig): NewNamespaces | undefined {
  const { createNamespaces, namespacePattern: patterns, namespacePodSecurity: podSecurity, allowPrivileged } = config;
  if (createNamespaces === "off") {
    if (patterns.length === 0) return undefined;
    throw new ConfigError("--namespace-pattern says which namespaces to create: add --create-namespaces=labelled");
  }
  if (patterns.length === 0)
    throw new ConfigError("--create-namespaces=labelled needs --namespace-pattern, such as --namespace-pattern=team-*");
  if (podSecurity === "privileged" && !allowPrivileged)
    throw new ConfigError("--namespace-pod-security=privileged needs --allow-privileged");
  return { patterns, podSecurity };
}

const acceptedKinds = ({ acceptReferences }: StartConfig): ReadonlySet<CopiedKind> =>
  new Set(
    acceptReferences.flatMap((name): CopiedKind[] =>
      name === "none" ? [] : [name === "secrets" ? "Secret" : "ConfigMap"],
    ),
  );

function checked<T>(flag: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigError(`${flag}: ${(cause as Error).message}`, { cause });
  }
}
