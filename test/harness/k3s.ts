import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";
import { GenericContainer, Wait } from "testcontainers";
import { requireDocker } from "./docker.ts";
import { guardedDirectory } from "./guarded-process.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { createNodes } from "./nodes.ts";
import { controlPlaneAssets, type RealCluster, type RealClusterOptions } from "./real-cluster-options.ts";
import { serviceAccountKubeconfig } from "./service-account.ts";
import { accessTools } from "./test-cluster.ts";

const defaultImage = "rancher/k3s:v1.36.3-k3s1";
const apiPort = 6443;
const tokenFile = "/etc/jobferry-tokens.csv";

/** K3s in a container, cut down to the same parts that the options of a local cluster would start. */
export async function k3sCluster(options: RealClusterOptions): Promise<RealCluster> {
  if (options.instantPods) throw new Error("instantPods needs local processes: set JOBFERRY_TEST_CLUSTER=source");
  if (options.realNodes) throw new Error("realNodes needs local processes: set JOBFERRY_TEST_CLUSTER=source");
  await requireDocker("JOBFERRY_TEST_CLUSTER=k3s");
  const token = randomBytes(16).toString("hex");
  const container = await new GenericContainer(process.env.JOBFERRY_K3S_IMAGE ?? defaultImage)
    .withPrivilegedMode()
    .withExposedPorts(apiPort)
    .withTmpFs({ "/run": "rw", "/var/run": "rw" })
    .withCopyContentToContainer([{ content: `${token},admin,admin,system:masters\n`, target: tokenFile, mode: 0o600 }])
    .withCommand(["server", ...serverFlags(options)])
    .withWaitStrategy(Wait.forLogMessage(/k3s is up and running/i))
    .withStartupTimeout(180_000)
    .start();
  const directory = guardedDirectory("k3s");
  const kubeconfigPath = join(directory.path, "kubeconfig");
  const { output: ca } = await container.exec(["cat", "/var/lib/rancher/k3s/server/tls/server-ca.crt"]);
  const access = { server: `https://${container.getHost()}:${container.getMappedPort(apiPort)}`, ca, token };
  await writeKubeconfig(kubeconfigPath, access);
  const tools = accessTools(access, kubeconfigPath, join(await controlPlaneAssets(), "kubectl"));
  const api = createClient(await findAccess({ kubeconfig: kubeconfigPath }));
  await createNodes(tools, options.nodes ?? []);
  return {
    kind: "real",
    api,
    kubeconfigPath,
    url: access.server,
    ...tools,
    serviceAccount: (account) => serviceAccountKubeconfig(tools, access, directory.path, account),
    async stop() {
      await Promise.all([api.close(), tools.close()]);
      await container.stop({ timeout: 0 });
      await directory.remove();
    },
  };
}

function serverFlags(options: RealClusterOptions): string[] {
  const gates = Object.entries(options.featureGates ?? {}).map(([gate, on]) => `${gate}=${on}`);
  const forward = (flag: string, args: readonly string[] = []) =>
    args.map((arg) => `--${flag}=${arg.replace(/^--/, "")}`);
  return [
    "--disable-agent",
    "--disable=traefik,servicelb,metrics-server,local-storage,coredns",
    "--disable-cloud-controller",
    "--disable-network-policy",
    "--disable-helm-controller",
    `--kube-apiserver-arg=token-auth-file=${tokenFile}`,
    "--kube-apiserver-arg=disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
    ...((options.nodes ?? []).length > 0 ? [] : ["--disable-scheduler"]),
    ...((options.controllers ?? []).length > 0
      ? [`--kube-controller-manager-arg=controllers=${(options.controllers ?? []).join(",")}`]
      : ["--disable-controller-manager"]),
    ...(gates.length > 0 ? [`--kube-apiserver-arg=feature-gates=${gates.join(",")}`] : []),
    ...forward("kube-apiserver-arg", options.apiServerArgs),
    ...forward("kube-controller-manager-arg", options.controllerManagerArgs),
  ];
}
