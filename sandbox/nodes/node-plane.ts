import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists } from "@jobferry/shared/kube/errors.ts";
import { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { PodEventSink } from "./events.ts";
import { Kubelet } from "./kubelet.ts";
import type { RunLog } from "./logs.ts";
import { type NodeSpec, nodeConditions, nodeObject, UNREACHABLE_TAINTS } from "./node-objects.ts";
import { ProcessRuntime } from "./process-runtime.ts";
import { type KubeNode, nodes } from "./resources.ts";
import type { RestartBackoff } from "./restart-delays.ts";
import { Scheduler } from "./scheduler.ts";
import { type VirtualBehaviour, VirtualRuntime } from "./virtual-runtime.ts";

export interface NodePlaneOptions {
  api: KubeApi;
  clock: Clock;
  /** Part of the names of nodes that have none. */
  clusterName: string;
  /** One node with 8 CPUs, 32 GiB and 110 pods unless given. */
  nodes?: readonly NodeSpec[];
  kubelet: "process" | "virtual";
  /** Virtual mode: how containers run, before their annotations are asked. */
  behaviour?: VirtualBehaviour;
  /** Process mode: where commands are looked for. */
  path?: string;
  /** Where events about pods go. Absent: to the API server in process mode, nowhere in virtual mode, which is for scale. */
  events?: PodEventSink;
  restartBackoff?: RestartBackoff;
  random?: () => number;
  logger?: Logger;
}

/** As in a container image without settings of its own. */
const CONTAINER_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Events are a courtesy: they get this long to leave when the nodes stop. */
const EVENT_FLUSH_MS = 200;

/** Who takes a pod away from its node, and the reason its `DisruptionTarget` condition gets. */
const DISRUPTIONS = {
  eviction: { reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
  preemption: {
    reason: "PreemptionByScheduler",
    message: "default-scheduler: preempting to accommodate a higher priority pod",
  },
  taint: { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" },
  kubelet: { reason: "TerminationByKubelet", message: "The node was low on resource: memory." },
} as const;

/** The nodes of a sandbox cluster: their Node objects, the scheduler, and the kubelet that runs their pods. */
export class NodePlane {
  readonly #options: NodePlaneOptions;
  readonly #pods: Reflector<Pod>;
  readonly #nodes: Reflector<KubeNode>;
  readonly #specs: ReadonlyMap<string, { spec: NodeSpec; ip: string }>;
  readonly #runtime: ProcessRuntime | VirtualRuntime;
  readonly #scheduler: Scheduler;
  readonly #kubelet: Kubelet;
  readonly #recorders: EventRecorder[] = [];
  readonly #stopping = new AbortController();
  #reflecting: Promise<unknown> = Promise.resolve();

  constructor(options: NodePlaneOptions) {
    this.#options = options;
    const { api, clock, random, logger } = options;
    const common = {
      api,
      clock,
      ...(random === undefined ? {} : { random }),
      ...(logger === undefined ? {} : { logger }),
    };
    this.#specs = named(options);
    this.#pods = new Reflector({ ...common, resource: pods });
    this.#nodes = new Reflector({ ...common, resource: nodes });
    const events = this.#eventSink("kubelet");
    this.#runtime = this.#makeRuntime(events);
    this.#scheduler = new Scheduler({
      ...common,
      pods: this.#pods,
      nodes: this.#nodes,
      events: this.#eventSink("default-scheduler"),
    });
    this.#kubelet = new Kubelet({
      ...common,
      pods: this.#pods,
      nodes: new Map([...this.#specs].map(([name, { ip }]) => [name, ip])),
      runtime: this.#runtime,
      events,
      ...(options.restartBackoff === undefined ? {} : { restartBackoff: options.restartBackoff }),
    });
  }

  /** Shared with the controllers that also look at pods or nodes. */
  get reflectors(): { pods: Reflector<Pod>; nodes: Reflector<KubeNode> } {
    return { pods: this.#pods, nodes: this.#nodes };
  }

  get nodeNames(): string[] {
    return [...this.#specs.keys()];
  }

  async start(): Promise<void> {
    for (const [name, { spec, ip }] of this.#specs) await this.#register(name, spec, ip);
    this.#scheduler.start();
    this.#kubelet.start();
    this.#reflecting = Promise.all([this.#nodes.start(this.#stopping.signal), this.#pods.start(this.#stopping.signal)]);
    await Promise.all([this.#nodes.whenSynced(), this.#pods.whenSynced()]);
  }

  /** Ends every container; in process mode no process is left when it resolves. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#scheduler.stop(), this.#kubelet.stop(), this.#reflecting]);
    await Promise.all(this.#recorders.map((recorder) => recorder.stop(EVENT_FLUSH_MS)));
  }

  /** What a run of a container printed; undefined when there is none. */
  log(podUid: string, container: string, previous = false): RunLog | undefined {
    return this.#runtime instanceof ProcessRuntime ? this.#runtime.logs.find(podUid, container, previous) : undefined;
  }

  /** Virtual mode: ends the pod's running containers, or the named one, with this exit code. False when none runs. */
  finish(podUid: string, exitCode = 0, container?: string): boolean {
    return this.#runtime instanceof VirtualRuntime && this.#runtime.finish(podUid, exitCode, container);
  }

  /** The node falls silent: it is marked unreachable, its pods stay as they were last reported, whatever they do. */
  async loseNode(name: string): Promise<void> {
    this.#kubelet.disconnect(name);
    await this.#mark(name, false, UNREACHABLE_TAINTS);
  }

  /** The node is back and reports everything that happened meanwhile. */
  async recoverNode(name: string): Promise<void> {
    await this.#mark(name, true, this.#specs.get(name)?.spec.taints ?? []);
    this.#kubelet.reconnect(name);
  }

  /** The machine is gone for good, and with it the Node object; its pods are left to the pod garbage collector. */
  async removeNode(name: string): Promise<void> {
    this.#kubelet.disconnect(name);
    await this.#options.api.delete(nodes, { name });
  }

  /** Takes a pod away as the named component would, with the `DisruptionTarget` condition that Jobs look for. */
  async disrupt(key: ObjectKey, by: keyof typeof DISRUPTIONS): Promise<void> {
    const { api, clock } = this.#options;
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      ...DISRUPTIONS[by],
      lastTransitionTime: timestamp(clock.now()),
    };
    const body = { status: { conditions: [condition] } };
    const pod = await api.patch(pods, key, { type: "strategic", body }, { subresource: "status" });
    if (by === "kubelet")
      this.#kubelet.fail(pod.metadata.uid ?? "", { reason: "Evicted", message: DISRUPTIONS.kubelet.message });
    else await api.delete(pods, key, { preconditions: { uid: pod.metadata.uid ?? "" } });
  }

  #eventSink(component: string): PodEventSink {
    const { api, clock, logger, kubelet, events } = this.#options;
    if (events !== undefined) return events;
    if (kubelet === "virtual") return () => {};
    const recorder = new EventRecorder({ api, clock, component, ...(logger === undefined ? {} : { logger }) });
    this.#recorders.push(recorder);
    return (pod, type, reason, message) => recorder.record(pods, pod, type, reason, message);
  }

  #makeRuntime(events: PodEventSink): ProcessRuntime | VirtualRuntime {
    const { api, clock, kubelet, behaviour, path = CONTAINER_PATH } = this.#options;
    if (kubelet === "virtual") return new VirtualRuntime(clock, behaviour);
    const allocatable = (node: string): Record<string, string> =>
      this.#nodes.get(undefined, node)?.status?.allocatable ?? {};
    return new ProcessRuntime({ api, clock, events, allocatable, path });
  }

  async #register(name: string, spec: NodeSpec, ip: string): Promise<void> {
    const object = nodeObject(spec, name, ip, this.#options.clock.now());
    try {
      await this.#options.api.create(nodes, undefined, object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #mark(name: string, reporting: boolean, taints: readonly object[]): Promise<void> {
    const { api, clock } = this.#options;
    const conditions = nodeConditions(reporting, clock.now());
    await api.patch(nodes, { name }, { type: "merge", body: { spec: { taints } } });
    await api.patch(nodes, { name }, { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
  }
}

function named({ nodes: specs = [{}], clusterName }: NodePlaneOptions): Map<string, { spec: NodeSpec; ip: string }> {
  return new Map(
    specs.map((spec, index) => {
      const ip = `172.20.${Math.floor(index / 250)}.${(index % 250) + 1}`;
      return [spec.name ?? `${clusterName}-node-${index + 1}`, { spec, ip }];
    }),
  );
}
