/** What an administrator does: applies deploy/ and runs the command line. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readAccess, writeKubeconfig } from "../../harness/kubeconfig.ts";
import type { RealCluster } from "../../harness/real-cluster-options.ts";
import { outputOf, runCommand } from "../../harness/run-command.ts";

const root = join(import.meta.dirname, "../../..");

/** Applies a folder of deploy/; a kubeconfig that acts as its service account. */
export async function install(
  cluster: RealCluster,
  folder: "hub" | "hub-pods" | "worker",
  account: string,
): Promise<string> {
  await outputOf(cluster.kubectl("apply", "-k", join(root, "deploy", folder)));
  const token = await outputOf(cluster.kubectl("create", "token", account, "-n", "jobferry-system"));
  const path = `${cluster.kubeconfigPath}-${account}`;
  const admin = readAccess(await readFile(cluster.kubeconfigPath, "utf8"));
  await writeKubeconfig(path, { ...admin, token: token.trim() });
  return path;
}

export const jobferry = (...args: string[]): Promise<string> =>
  outputOf(runCommand(process.execPath, [join(root, "cli/main.ts"), ...args]));
