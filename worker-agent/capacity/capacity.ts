import { isDeepStrictEqual } from "node:util";
import { type Amounts, podRequests } from "@jobferry/shared/job/requests.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, Resource } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { leanPods } from "../lean-pods.ts";
import { labelFilter } from "./node-labels.ts";
import { type RoomReport, roomReport } from "./room-report.ts";
import { type Node, NodeShapes } from "./shapes.ts";

const nodes: Resource<Node> = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** What is left of a cached pod: what it takes from its node. */
interface Load extends Pod {
  requests: Amounts;
}

/** Pods that take something: bound and not finished. The API server leaves out all others, and says when one is no longer among them. */
const LOADS = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";

/** Watches nodes and pods and can say at any moment how much room there is; a pod costs a few additions when it comes or goes. */
export class Capacity {
  readonly #nodes: Reflector<Node>;
  readonly #pods: Reflector<Load>;
  readonly #shapes: NodeShapes;
  /** What is counted of each pod, by UID: requests may change (resize), and the last state that is told is not always one that was counted. */
  readonly #counted = new Map<string, Load>();

  /** `nodeLabels`: labels of nodes that Jobs may choose by, besides the well-known ones. */
  constructor(options: {
    api: KubeApi;
    clock: Clock;
    random: Random;
    logger: Logger;
    nodeLabels?: readonly string[] | undefined;
  }) {
    this.#shapes = new NodeShapes(labelFilter(options.nodeLabels));
    this.#nodes = new Reflector({ ...options, resource: nodes, transform: leanNode });
    this.#nodes.addHandler({
      added: (node) => this.#shapes.put(node),
      updated: (before, after) => {
        if (!isDeepStrictEqual({ ...before, metadata: labelsOf(before) }, { ...after, metadata: labelsOf(after) }))
          this.#shapes.put(after);
      },
      deleted: ({ metadata: { name = "" } }) => this.#shapes.remove(name),
    });
    const resource = leanPods as Resource<Load>;
    this.#pods = new Reflector({ ...options, resource, fieldSelector: LOADS, transform: loadOf });
    this.#pods.addHandler({
      added: (pod) => this.#count(pod),
      updated: (before, after) => {
        if (before.metadata.uid !== after.metadata.uid) this.#forget(before);
        this.#count(after);
      },
      deleted: (pod) => this.#forget(pod),
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#nodes.start(signal), this.#pods.start(signal)]);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#nodes.whenSynced(), this.#pods.whenSynced()]);
  }

  report(): RoomReport {
    return roomReport(this.#shapes);
  }

  /** The nodes by kind; the same object as long as nothing changed. */
  nodes(): NodesReport {
    return this.#shapes.report();
  }

  #count(pod: Load): void {
    this.#forget(pod);
    this.#counted.set(pod.metadata.uid ?? "", pod);
    this.#add(pod, 1);
  }

  #forget({ metadata: { uid = "" } }: Load): void {
    const counted = this.#counted.get(uid);
    if (counted === undefined) return;
    this.#counted.delete(uid);
    this.#add(counted, -1);
  }

  #add({ spec: { nodeName = "" }, requests }: Load, sign: 1 | -1): void {
    this.#shapes.take(nodeName, requests, sign);
  }
}

/** Of a node's many fields those that decide who may go there; its images alone can be a hundred kilobytes. */
function leanNode({ metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, labels } = metadata;
  const { unschedulable, taints } = spec ?? {};
  const ready = status?.conditions
    ?.filter(({ type }) => type === "Ready")
    .map(({ type, status }) => ({ type, status }));
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      ...(unschedulable === undefined ? {} : { unschedulable }),
      ...(taints === undefined ? {} : { taints }),
    },
    status: {
      ...(status?.allocatable === undefined ? {} : { allocatable: status.allocatable }),
      ...(ready === undefined ? {} : { conditions: ready }),
    },
  };
}

/** The kubelet writes its node every few minutes for no reason that matters here. */
const labelsOf = ({ metadata: { labels } }: Node): object => ({ labels });

function loadOf({ metadata: { name, namespace, uid, resourceVersion }, spec }: Load): Load {
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: { containers: [], ...(spec.nodeName === undefined ? {} : { nodeName: spec.nodeName }) },
    requests: podRequests(spec),
  };
}
