/** The same question to kube-scheduler and to us: how many of these pods find a node. */
import { setTimeout as delay } from "node:timers/promises";
import { type Fit, fits } from "@jobferry/manager/placement/fit/fits.ts";
import { jobNeeds } from "@jobferry/manager/placement/fit/job-needs.ts";
import { podRequests } from "@jobferry/shared/job/requests.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods as podResource } from "@jobferry/shared/kube/resources.ts";
import { nodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { realRandom } from "@jobferry/shared/runtime/random.ts";
import { labelFilter } from "@jobferry/worker-agent/capacity/node-labels.ts";
import { type Node, NodeShapes } from "@jobferry/worker-agent/capacity/shapes.ts";
import type { LocalCluster } from "../harness/real-cluster.ts";
import type { Case } from "./generate.ts";
import { RUNTIME_CLASS } from "./generate-pod.ts";

const nodeResource: Resource<Node> = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
interface RuntimeClass extends KubeObject {
  handler: string;
  overhead: { podFixed: Record<string, string> };
}
const runtimeClasses: Resource<RuntimeClass> = {
  group: "node.k8s.io",
  version: "v1",
  plural: "runtimeclasses",
  kind: "RuntimeClass",
  namespaced: false,
};

const NAMESPACE = "default";
const AT_ONCE = 16;

/** Everything is there before the scheduler starts: it never judges by half of the nodes. */
export async function boundByScheduler(cluster: LocalCluster, cases: readonly Case[]): Promise<Map<number, number>> {
  const { api } = cluster;
  const { name, overhead } = RUNTIME_CLASS;
  await api.create(runtimeClasses, undefined, { metadata: { name }, handler: "any", overhead: { podFixed: overhead } });
  await inTurn(
    cases.flatMap(({ nodes }) => nodes),
    (node) => api.create(nodeResource, undefined, node),
  );
  await inTurn(cases.flatMap(podsOf), (pod) => api.create(podResource, NAMESPACE, pod));
  const { controlPlane } = cluster;
  controlPlane.run("kube-scheduler", [
    `--kubeconfig=${controlPlane.kubeconfigPath}`,
    "--secure-port=0",
    "--leader-elect=false",
    "--kube-api-qps=500",
    "--kube-api-burst=500",
  ]);
  return judged(
    api,
    cases.reduce((sum, { pods }) => sum + pods, 0),
  );
}

/** What our agent would report of the case's nodes, sent and read, and what our manager makes of it. */
export function fitsByUs({ nodes, loads, pod, pods }: Case): Fit {
  const shapes = new NodeShapes(labelFilter(["example.com/*"]));
  for (const node of nodes) shapes.put(node);
  for (const load of loads) shapes.take(load.nodeName ?? "", podRequests(load), 1);
  const report = nodesReport.parse(JSON.parse(JSON.stringify(shapes.report())));
  return fits(jobNeeds({ metadata: {}, spec: { parallelism: pods, template: { spec: pod } } }), report);
}

const podsOf = ({ seed, loads, pod, pods }: Case): Pod[] => [
  ...loads.map((spec, i) => ({ metadata: { name: `case-${seed}-load-${i}` }, spec })),
  ...Array.from({ length: pods }, (_, i) => ({
    metadata: { name: `case-${seed}-pod-${i}`, labels: { asks: String(seed) } },
    spec: pod,
  })),
];

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Resolves when the scheduler has bound each pod or said that it cannot. */
async function judged(api: KubeApi, expected: number): Promise<Map<number, number>> {
  const end = new AbortController();
  const verdicts = new Map<string, { seed: number; bound: boolean }>();
  const complete = Promise.withResolvers<void>();
  const look = ({ metadata, spec, status }: Pod): void => {
    const bound = spec.nodeName !== undefined;
    const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (!bound && scheduled?.reason !== "Unschedulable") return;
    verdicts.set(metadata.name ?? "", { seed: Number(metadata.labels?.asks), bound });
    if (verdicts.size === expected) complete.resolve();
  };
  const reflector = new Reflector({
    ...{
      api,
      resource: podResource,
      namespace: NAMESPACE,
      labelSelector: "asks",
      clock: realClock,
      random: realRandom,
    },
  });
  reflector.addHandler({ added: look, updated: (_, pod) => look(pod) });
  const watching = reflector.start(end.signal);
  const limit = 60_000 + expected * 100;
  const late = delay(limit, undefined, { signal: end.signal }).then(() => {
    throw new Error(`kube-scheduler has judged ${verdicts.size} of ${expected} pods in ${limit / 1000} s`);
  });
  try {
    await Promise.race([complete.promise, late]);
  } finally {
    end.abort();
    await Promise.allSettled([watching, late]);
  }
  const bound = new Map<number, number>();
  for (const verdict of verdicts.values())
    bound.set(verdict.seed, (bound.get(verdict.seed) ?? 0) + (verdict.bound ? 1 : 0));
  return bound;
}
