/** What a test may ask of a real cluster, wherever it comes from. */
import { buildControlPlane } from "../control-plane/build.ts";
import type { ControlPlaneOptions } from "./control-plane.ts";
import type { NodeOptions } from "./nodes.ts";
import type { ServiceAccountOptions } from "./service-account.ts";
import type { TestCluster } from "./test-cluster.ts";

export interface RealClusterOptions extends ControlPlaneOptions {
  /** Starts kube-scheduler and registers these nodes; nothing runs on them unless `instantPods` is set. */
  nodes?: readonly NodeOptions[];
  /**
   * Runs every bound Pod to completion without a container, after `run` (a Go duration). Without `nodes` it binds Pods
   * itself, which is cheaper than a scheduler. Annotations steer single Pods: see test/control-plane/instantpods.
   */
  instantPods?: boolean | { run?: string; workers?: number };
}

export interface RealCluster extends TestCluster {
  readonly kind: "real";
  /** A kubeconfig that acts as a new service account with just these rights. */
  serviceAccount(options: ServiceAccountOptions): Promise<string>;
}

/** The folder with the programs of a control plane. */
export async function controlPlaneAssets(): Promise<string> {
  const choice = process.env.JOBFERRY_TEST_CLUSTER ?? (process.env.KUBEBUILDER_ASSETS ? "kubebuilder" : "source");
  switch (choice) {
    case "kubebuilder": {
      const assets = process.env.KUBEBUILDER_ASSETS;
      if (!assets) throw new Error("set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl");
      return assets;
    }
    case "source":
    case "k3s":
      return buildControlPlane();
    default:
      throw new Error(`JOBFERRY_TEST_CLUSTER is "${choice}": use source, kubebuilder or k3s`);
  }
}
