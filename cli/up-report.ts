/** What `jobferry up` says, for people and for programs. */
export interface ClusterFile {
  name: string;
  role: "hub" | "worker";
  url: string;
  /** Path of the file. */
  kubeconfig: string;
  startedInMs: number;
}

export interface Reporter {
  starting(workers: number): void;
  clusterReady(cluster: ClusterFile): void;
  ready(clusters: readonly ClusterFile[], startedInMs: number): void;
  stopping(): void;
  stopped(): void;
}

export const reporterFor = (output: "text" | "json", print: (line: string) => void): Reporter =>
  output === "json" ? jsonReporter(print) : textReporter(print);

function jsonReporter(print: (line: string) => void): Reporter {
  const say = (event: string, fields: object = {}): void => print(JSON.stringify({ event, ...fields }));
  return {
    starting: (workers) => say("starting", { workers }),
    clusterReady: (cluster) => say("clusterReady", cluster),
    ready: (clusters, startedInMs) => say("ready", { startedInMs, clusters }),
    stopping: () => say("stopping"),
    stopped: () => say("stopped"),
  };
}

function textReporter(print: (line: string) => void): Reporter {
  return {
    starting: (workers) =>
      print(`Starting an embedded hub and ${workers} worker ${workers === 1 ? "cluster" : "clusters"} ...`),
    clusterReady: ({ name, url, startedInMs }) => print(`  ${name.padEnd(10)} ${url}  ready after ${startedInMs} ms`),
    ready(clusters, startedInMs) {
      for (const line of readyText(clusters, startedInMs)) print(line);
    },
    stopping: () => print("Stopping: ending clusters and the processes of their pods ..."),
    stopped: () => print("Stopped."),
  };
}

function readyText(clusters: readonly ClusterFile[], startedInMs: number): string[] {
  return [
    `Ready after ${(startedInMs / 1000).toFixed(1)} s.`,
    "",
    "Kubeconfigs:",
    ...clusters.map(({ name, kubeconfig }) => `  ${name.padEnd(10)} ${kubeconfig}`),
    "",
    "Try, in another terminal:",
    `  export KUBECONFIG=${clusters.map(({ kubeconfig }) => kubeconfig).join(":")}`,
    "  kubectl create job hello --image=busybox -- echo hello",
    "  kubectl wait --for=condition=complete job/hello",
    "  kubectl logs job/hello",
    ...(clusters.length > 1 ? [`  kubectl --context ${clusters[1]?.name} get nodes`] : []),
    "",
    "Each cluster runs its own Jobs with Jobferry's Job controller. Containers run as local processes of",
    "this user; images are not pulled. Jobs are not yet dispatched from the hub to the workers.",
    "",
    "Press Ctrl-C to stop.",
  ];
}
