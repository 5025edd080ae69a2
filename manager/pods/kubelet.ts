import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { readCertificate } from "./certificate.ts";
import { Callers, clientCaOf } from "./kubelet-callers.ts";
import { startKubeletServer } from "./kubelet-server.ts";
import type { KubeletAddress } from "./node.ts";
import type { ShownLogs } from "./shown-logs.ts";

export interface KubeletFlags {
  readonly kubeletPort: number;
  readonly kubeletHost: string;
  readonly kubeletAddress: string;
  readonly kubeletAdvertisedPort?: number | undefined;
  readonly kubeletClientName?: string | undefined;
  readonly kubeletCertFile?: string | undefined;
  readonly kubeletKeyFile?: string | undefined;
}

/** Clusters change the authority of their certificates now and then. */
const CA_EVERY_MS = 300_000;

/** The virtual node's kubelet as the flags want it. */
export async function startKubelet(
  api: KubeApi,
  flags: KubeletFlags,
  logger: Logger,
  logs: () => ShownLogs | undefined,
): Promise<{ address: KubeletAddress; close(): Promise<void> }> {
  const callers = new Callers(api, realClock, flags.kubeletClientName);
  const clientCa = await clientCaOf(api).catch((cause: unknown) => {
    throw new ConfigError(`--kubelet-address: ${(cause as Error).message}`, { cause });
  });
  const server = await startKubeletServer({
    host: flags.kubeletHost,
    port: flags.kubeletPort,
    certificate: await readCertificate("kubelet", flags.kubeletCertFile, flags.kubeletKeyFile),
    clientCa,
    isAllowed: (caller) => callers.isAllowed(caller),
    logs,
    logger,
  });
  const timer = setInterval(() => {
    clientCaOf(api).then(
      (ca) => server.trust(ca),
      (error: unknown) => logger.warn({ error }, "the authority of client certificates could not be read again"),
    );
  }, CA_EVERY_MS).unref();
  return {
    address: { address: flags.kubeletAddress, port: flags.kubeletAdvertisedPort ?? server.port },
    close: () => {
      clearInterval(timer);
      return server.close();
    },
  };
}
