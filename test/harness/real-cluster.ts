import { join } from "node:path";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";
import { ControlPlane } from "./control-plane.ts";
import { guardedDirectory } from "./guarded-process.ts";
import { createNodes } from "./nodes.ts";
import { withFreePorts } from "./ports.ts";
import { controlPlaneAssets, type RealCluster, type RealClusterOptions } from "./real-cluster-options.ts";
import { serviceAccountKubeconfig } from "./service-account.ts";
import { accessTools, type TestCluster } from "./test-cluster.ts";

/** A real cluster whose parts are processes of this machine, so that tests can end and freeze them. */
export interface LocalCluster extends RealCluster {
  /** Also the way to the running programs and their logs. */
  readonly controlPlane: ControlPlane;
  /** Ends the API server (as a crash would, or with time to finish) and starts it again on the same port and state. */
  restartApiServer(graceMs?: number): Promise<void>;
}

/**
 * A real kube-apiserver with what the options add. Where it comes from is the choice of whoever runs the tests:
 * JOBFERRY_TEST_CLUSTER = `kubebuilder` (programs in KUBEBUILDER_ASSETS, also the default when that is set), `k3s` (a
 * container) or `source` (built once from source).
 */
export async function realCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  if (process.env.JOBFERRY_TEST_CLUSTER !== "k3s") return localCluster(options);
  const { k3sCluster } = await import("./k3s.ts"); // testcontainers takes a second to load
  return k3sCluster(options);
}

/** A real cluster made of local processes, for tests that end or freeze single programs. */
export async function localCluster(options: RealClusterOptions = {}): Promise<LocalCluster> {
  const assets = await controlPlaneAssets();
  const directory = guardedDirectory("cluster");
  const controlPlane = await withFreePorts(3, async (ports) => {
    const plane = new ControlPlane(assets, join(directory.path, String(ports[0])), ports, options);
    await plane.start();
    return plane;
  }).catch(async (error: unknown) => {
    await directory.remove();
    throw error;
  });
  const tools = accessTools(controlPlane.access, controlPlane.kubeconfigPath, join(assets, "kubectl"));
  const api = createClient(await findAccess({ kubeconfig: controlPlane.kubeconfigPath }));
  const stop = async (): Promise<void> => {
    await Promise.all([api.close(), tools.close()]);
    await controlPlane.stop();
    await directory.remove();
  };
  try {
    await startPodMachinery(controlPlane, tools, options);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kind: "real",
    api,
    kubeconfigPath: controlPlane.kubeconfigPath,
    url: controlPlane.url,
    ...tools,
    controlPlane,
    serviceAccount: (account) => serviceAccountKubeconfig(tools, controlPlane.access, controlPlane.directory, account),
    async restartApiServer(graceMs) {
      await controlPlane.stopApiServer(graceMs);
      await controlPlane.startApiServer();
    },
    stop,
  };
}

async function startPodMachinery(
  controlPlane: ControlPlane,
  tools: Pick<TestCluster, "request">,
  options: RealClusterOptions,
): Promise<void> {
  const nodes = options.nodes ?? [];
  const { kubeconfigPath } = controlPlane;
  if (nodes.length > 0 || options.realNodes === true)
    controlPlane.run("kube-scheduler", [`--kubeconfig=${kubeconfigPath}`, "--secure-port=0", "--leader-elect=false"]);
  const stand = options.instantPods === true ? {} : options.instantPods;
  await createNodes(tools, nodes.length > 0 || !stand ? nodes : [{ name: "instant" }]);
  if (stand)
    controlPlane.run("instant-pods", [
      `--kubeconfig=${kubeconfigPath}`,
      ...(nodes.length > 0 ? [] : ["--node=instant"]),
      ...(stand.run === undefined ? [] : [`--run=${stand.run}`]),
      ...(stand.workers === undefined ? [] : [`--workers=${stand.workers}`]),
    ]);
}
