import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { RedisConfig } from "@jobferry/shared/queue/redis-config.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger, LogLevel } from "@jobferry/shared/runtime/logger.ts";
import { readCertificate } from "../pods/certificate.ts";
import { Callers, clientCaOf } from "../pods/kubelet-callers.ts";
import type { KubeletAddress } from "../pods/node.ts";
import { type LogDeskOptions, openLogDesk } from "./log-desk.ts";
import type { LogService, LogServiceOptions } from "./log-service.ts";
import { startLogThread } from "./log-thread.ts";

export interface LogFlags {
  readonly pods: "none" | "shadow";
  readonly kubeletPort: number;
  readonly kubeletHost: string;
  readonly kubeletAddress?: string | undefined;
  readonly kubeletAdvertisedPort?: number | undefined;
  readonly kubeletClientName?: string | undefined;
  readonly kubeletCertFile?: string | undefined;
  readonly kubeletKeyFile?: string | undefined;
  readonly logsPort?: number | undefined;
  readonly logsHost: string;
  readonly logsCertFile?: string | undefined;
  readonly logsKeyFile?: string | undefined;
  readonly logLevel: LogLevel;
}

export interface Logs {
  /** Of the virtual node's kubelet. */
  readonly kubelet?: KubeletAddress | undefined;
  /** Where `jobferry logs` asks. */
  readonly port?: number | undefined;
  /** Rejects when logs cannot be served any longer. */
  readonly failed: Promise<never>;
  /** Another manager leads from now on. */
  handOver(): void;
  close(): Promise<void>;
}

/** Clusters change the authority of their certificates now and then. */
const CA_EVERY_MS = 300_000;
const NONE: Logs = { failed: new Promise(() => {}), handOver: () => {}, close: async () => {} };

/** Serves logs as the flags want it. */
export async function startLogs(
  api: KubeApi,
  flags: LogFlags,
  redis: RedisConfig,
  logger: Logger,
  manager: LogDeskOptions["manager"],
): Promise<Logs> {
  const kubelet = await kubeletOf(api, flags);
  const endpoint = await endpointOf(flags);
  if (kubelet === undefined && endpoint === undefined) return NONE;
  const callers = new Callers(api, realClock, flags.kubeletClientName);
  const desk = openLogDesk({
    api,
    clock: realClock,
    logger,
    manager,
    isAllowed: (caller) => callers.isAllowed(caller),
  });
  const service = await startLogThread({ redis, kubelet, endpoint, logLevel: flags.logLevel }, desk);
  const { kubeletAddress: address, kubeletAdvertisedPort } = flags;
  const renewing = kubelet && renewAuthority(api, service, logger);
  return {
    ...(address === undefined || service.kubeletPort === undefined
      ? {}
      : { kubelet: { address, port: kubeletAdvertisedPort ?? service.kubeletPort } }),
    port: service.endpointPort,
    failed: service.failed,
    handOver: () => service.handOver(),
    close: async () => {
      clearInterval(renewing);
      desk.close();
      await service.close();
    },
  };
}

async function kubeletOf(api: KubeApi, flags: LogFlags): Promise<LogServiceOptions["kubelet"]> {
  if (flags.pods === "none" || flags.kubeletAddress === undefined) return undefined;
  const clientCa = await clientCaOf(api).catch((cause: unknown) => {
    throw new ConfigError(`--kubelet-address: ${(cause as Error).message}`, { cause });
  });
  const certificate = await readCertificate("kubelet", flags.kubeletCertFile, flags.kubeletKeyFile);
  return { host: flags.kubeletHost, port: flags.kubeletPort, certificate, clientCa };
}

async function endpointOf(flags: LogFlags): Promise<LogServiceOptions["endpoint"]> {
  if (flags.logsPort === undefined) return undefined;
  const certificate = await readCertificate("logs", flags.logsCertFile, flags.logsKeyFile);
  return { host: flags.logsHost, port: flags.logsPort, certificate };
}

function renewAuthority(api: KubeApi, service: Pick<LogService, "trust">, logger: Logger): NodeJS.Timeout {
  return setInterval(() => {
    clientCaOf(api).then(
      (ca) => service.trust(ca),
      (error: unknown) => logger.warn({ error }, "the authority of client certificates could not be read again"),
    );
  }, CA_EVERY_MS).unref();
}
