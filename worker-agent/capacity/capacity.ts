import { type Amounts, podRequests, resourceUnits } from "@jobferry/shared/job/requests.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { leanPods } from "../lean-pods.ts";

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: { allocatable?: Record<string, string>; conditions?: { type: string; status: string }[] };
}

const nodes: Resource<Node> = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

type Sums = Map<string, number>;

/** What is left of a cached pod: what it takes from its node. */
interface Load extends Pod {
  requests: Amounts;
}

/** Pods that take something: bound and not finished. The API server leaves out all others, and says when one is no longer among them. */
const LOADS = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";

export interface RoomReport {
  capacity: Record<string, string>;
  free: Record<string, string>;
  largestFreeNode: Record<string, string>;
  largestNode: Record<string, string>;
}

/** Watches nodes and pods and can say at any moment how much room there is; a pod costs a few additions when it comes or goes. */
export class Capacity {
  readonly #nodes: Reflector<Node>;
  readonly #pods: Reflector<Load>;
  /** Requested per node. */
  readonly #taken = new Map<string, Sums>();
  /** What is counted of each pod, by UID: requests may change (resize), and the last state that is told is not always one that was counted. */
  readonly #counted = new Map<string, Load>();

  constructor(options: { api: KubeApi; clock: Clock; random: Random; logger: Logger }) {
    this.#nodes = new Reflector({ ...options, resource: nodes });
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
    const capacity: Sums = new Map();
    const free: Sums = new Map();
    const largestFreeNode: Sums = new Map();
    const largestNode: Sums = new Map();
    for (const node of this.#nodes.list()) {
      if (!isSchedulable(node)) continue;
      const taken = this.#taken.get(node.metadata.name ?? "");
      for (const [resource, quantity] of Object.entries(node.status?.allocatable ?? {})) {
        const units = resourceUnits(resource, quantity);
        const left = Math.max(0, units - (taken?.get(resource) ?? 0));
        add(capacity, resource, units);
        add(free, resource, left);
        raise(largestNode, resource, units);
        raise(largestFreeNode, resource, left);
      }
    }
    return {
      capacity: quantities(capacity),
      free: quantities(free),
      largestFreeNode: quantities(largestFreeNode),
      largestNode: quantities(largestNode),
    };
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
    let taken = this.#taken.get(nodeName);
    if (taken === undefined) {
      taken = new Map();
      this.#taken.set(nodeName, taken);
    }
    for (const [resource, amount] of requests) add(taken, resource, sign * amount);
  }
}

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

const isSchedulable = (node: Node): boolean =>
  node.spec?.unschedulable !== true &&
  node.status?.conditions?.find(({ type }) => type === "Ready")?.status !== "False";

const add = (sums: Sums, resource: string, amount: number): void => {
  sums.set(resource, (sums.get(resource) ?? 0) + amount);
};

const raise = (peaks: Sums, resource: string, amount: number): void => {
  peaks.set(resource, Math.max(peaks.get(resource) ?? 0, amount));
};

const quantities = (sums: Sums): Record<string, string> =>
  Object.fromEntries(
    [...sums].map(([resource, units]) => [resource, resource === "cpu" ? `${units}m` : String(units)]),
  );
