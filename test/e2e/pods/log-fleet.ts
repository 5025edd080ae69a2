/** A fleet whose hub reads logs as real clusters do: its API server has a client certificate that the manager's kubelet endpoint knows. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Certificate, certificateAuthority, clientCertificate } from "../../harness/certificates.ts";
import { guardedDirectory } from "../../harness/guarded-process.ts";
import { RealFleet, type RealFleetOptions } from "../dispatch/real-fleet.ts";
import { type StandInKubelet, standInKubelet } from "./stand-in-kubelet.ts";

export interface LogFleet {
  readonly fleet: RealFleet;
  /** Signs certificates of the hub's clients. */
  readonly authority: Certificate;
  stop(): Promise<void>;
}

export interface StandInLogFleet extends LogFleet {
  /** Of the node that runs all pods of worker east. */
  readonly kubelet: StandInKubelet;
}

/** Its containers are made up, and so are their logs. */
export async function startLogFleet(options: RealFleetOptions = {}): Promise<StandInLogFleet> {
  const started = await startHubWithLogs(options);
  const kubelet = await standInKubelet(started.fleet.worker("east"), "instant");
  const stop = async (): Promise<void> => {
    await started.stop();
    await kubelet.stop();
  };
  return { ...started, kubelet, stop };
}

export async function startHubWithLogs(options: RealFleetOptions): Promise<LogFleet> {
  const directory = guardedDirectory("logs");
  const file = (name: string): string => join(directory.path, name);
  const authority = await certificateAuthority("cluster");
  const apiServer = await clientCertificate(authority, "kube-apiserver-kubelet-client", "system:masters");
  await writeFile(file("ca.crt"), authority.cert);
  await writeFile(file("client.crt"), apiServer.cert);
  await writeFile(file("client.key"), apiServer.key, { mode: 0o600 });
  const client = [`--kubelet-client-certificate=${file("client.crt")}`, `--kubelet-client-key=${file("client.key")}`];
  const fleet = new RealFleet({
    workers: ["east"],
    pods: true,
    ...options,
    hubApiServer: {
      ...options.hubApiServer,
      apiServerArgs: [`--client-ca-file=${file("ca.crt")}`, ...client, ...(options.hubApiServer?.apiServerArgs ?? [])],
    },
    managerFlags: ["--kubelet-address=127.0.0.1", "--kubelet-port=0", ...(options.managerFlags ?? [])],
  });
  const stop = async (): Promise<void> => {
    await fleet.stop();
    await directory.remove();
  };
  try {
    await fleet.start();
    return { fleet, authority, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
