import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SandboxCluster, type SandboxOptions } from "@jobferry/sandbox/cluster.ts";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";
import { guardedDirectory } from "./guarded-process.ts";
import { readAccess } from "./kubeconfig.ts";
import { controlPlaneAssets } from "./real-cluster-options.ts";
import { accessTools, type TestCluster } from "./test-cluster.ts";

export interface ServedSandbox extends TestCluster {
  readonly kind: "sandbox";
  /** Its in-process API, clock and faults. */
  readonly sandbox: SandboxCluster;
}

/** A sandbox cluster, started and served over TLS; `api` talks to it through HTTPS as it would to any cluster. */
export async function sandboxCluster(options: SandboxOptions = {}): Promise<ServedSandbox> {
  const sandbox = new SandboxCluster(options);
  const directory = guardedDirectory("sandbox");
  const kubeconfigPath = join(directory.path, "kubeconfig");
  try {
    await sandbox.start();
    const { url, kubeconfig } = await sandbox.serve();
    await writeFile(kubeconfigPath, kubeconfig, { mode: 0o600 });
    const tools = accessTools(readAccess(kubeconfig), kubeconfigPath, join(await controlPlaneAssets(), "kubectl"));
    const api = createClient(await findAccess({ kubeconfig: kubeconfigPath }));
    return {
      kind: "sandbox",
      sandbox,
      api,
      kubeconfigPath,
      url,
      ...tools,
      async stop() {
        await Promise.all([api.close(), tools.close()]);
        await sandbox.stop();
        await directory.remove();
      },
    };
  } catch (error) {
    await sandbox.stop();
    await directory.remove();
    throw error;
  }
}
