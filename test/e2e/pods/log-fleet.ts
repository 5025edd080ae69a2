/** A fleet whose hub reads logs as real clusters do: its API server has a client certificate that the manager's kubelet endpoint knows. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Certificate, certificateAuthority, clientCertificate } from "../../harness/certificates.ts";
import { guardedDirectory } from "../../harness/guarded-process.ts";
import { RealFleet, type RealFleetOptions } from "../dispatch/real-fleet.ts";
import { type StandInKubelet, standInKubelet } from "./stand-in-kubelet.ts";

export interface LogFleet {
  readonly fleet: RealFleet;
  /** Of the node that runs all pods of worker east. */
  readonly kubelet: StandInKubelet;
  /** Signs certificates of the hub's clients. */
  readonly authority: Certificate;
  stop(): Promise<void>;
}

export async function startLogFleet(options: RealFleetOptions = {}): Promise<LogFleet> {
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
      apiServerArgs: [`--client-ca-file=${file("ca.crt")}`, ...client, ...(options.hubApiServer?.apiServerArgs ?? [])],
    },
    managerFlags: ["--kubelet-address=127.0.0.1", "--kubelet-port=0", ...(options.managerFlags ?? [])],
  });
  let kubelet: StandInKubelet | undefined;
  const stop = async (): Promise<void> => {
    await fleet.stop();
    await kubelet?.stop();
    await directory.remove();
  };
  try {
    await fleet.start();
    kubelet = await standInKubelet(fleet.worker("east"), "instant");
    return { fleet, kubelet, authority, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
