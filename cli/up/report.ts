/** What `jobferry up` says, for people and for programs. */
import type { Outcome } from "./demo/run.ts";

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
  /** What carries messages between manager and agents. */
  messages(carrier: string): void;
  clusterReady(cluster: ClusterFile): void;
  ready(clusters: readonly ClusterFile[], startedInMs: number): void;
  demoEnded(outcomes: readonly Outcome[], tookMs: number): void;
  /** What a person may do next. */
  hints(clusters: readonly ClusterFile[]): void;
  stopping(): void;
  stopped(): void;
}

export const reporterFor = (output: "text" | "json", print: (line: string) => void): Reporter =>
  output === "json" ? jsonReporter(print) : textReporter(print);

function jsonReporter(print: (line: string) => void): Reporter {
  const say = (event: string, fields: object = {}): void => print(JSON.stringify({ event, ...fields }));
  return {
    starting: (workers) => say("starting", { workers }),
    messages: (carrier) => say("messages", { carrier }),
    clusterReady: (cluster) => say("clusterReady", cluster),
    ready: (clusters, startedInMs) => say("ready", { startedInMs, clusters }),
    demoEnded: (outcomes, tookMs) => say("demoEnded", { tookMs, outcomes }),
    hints: () => {},
    stopping: () => say("stopping"),
    stopped: () => say("stopped"),
  };
}

function textReporter(print: (line: string) => void): Reporter {
  return {
    starting: (workers) =>
      print(`Starting an embedded hub and ${workers} worker ${workers === 1 ? "cluster" : "clusters"} ...`),
    messages: (carrier) => print(`  ${"messages".padEnd(10)} through ${carrier}`),
    clusterReady: ({ name, url, startedInMs }) => print(`  ${name.padEnd(10)} ${url}  ready after ${startedInMs} ms`),
    ready: (_, startedInMs) => print(`Ready after ${seconds(startedInMs)}.\n`),
    demoEnded(outcomes, tookMs) {
      for (const line of demoText(outcomes, tookMs)) print(line);
    },
    hints(clusters) {
      for (const line of hintsText(clusters)) print(line);
    },
    stopping: () => print("Stopping: ending clusters and the processes of their pods ..."),
    stopped: () => print("Stopped."),
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function demoText(outcomes: readonly Outcome[], tookMs: number): string[] {
  const good = outcomes.filter(({ differences }) => differences.length === 0).length;
  return [
    "",
    ...outcomes.map(({ name, shows, differences }) =>
      differences.length === 0
        ? `  as expected  ${name.padEnd(15)} ${shows}`
        : `  DIFFERENT    ${name.padEnd(15)} ${differences.join("; ")}`,
    ),
    `${good} of ${outcomes.length} examples ended as expected, after ${seconds(tookMs)}.`,
    "What they printed can be read on the hub, with KUBECONFIG as below:",
    "  kubectl logs job/plain",
    "  kubectl logs job/exit-code",
    "  kubectl logs -l job-name=indexed --prefix",
    "",
  ];
}

function hintsText(clusters: readonly ClusterFile[]): string[] {
  return [
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
    "That Job runs on the hub itself. With spec.managedBy: jobferry.dev/manager it runs on a worker:",
    "  kubectl create job ferried --image=busybox --dry-run=client -o yaml -- echo hello |",
    `    kubectl patch --local -f - --type merge -p '{"spec":{"managedBy":"jobferry.dev/manager"}}' -o yaml |`,
    "    kubectl create -f -",
    "  kubectl wait --for=condition=complete job/ferried && kubectl get workerclusters",
    "  kubectl get pods -l job-name=ferried && kubectl logs job/ferried",
    "",
    "Containers run as local processes of this user; images are not pulled.",
    "",
    "Press Ctrl-C to stop.",
  ];
}
