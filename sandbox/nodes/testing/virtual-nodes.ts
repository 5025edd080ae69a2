import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { SandboxCluster } from "../../cluster.ts";
import { NodePlane, type NodePlaneOptions } from "../node-plane.ts";

export interface RecordedEvent {
  object: string;
  type: string;
  reason: string;
  message: string;
}

/** A cluster on a virtual clock whose nodes a test can watch and steer. */
export class VirtualNodes {
  readonly clock = new VirtualClock();
  readonly cluster = new SandboxCluster({ clock: this.clock, seed: 7, kubelet: "none" });
  readonly events: RecordedEvent[] = [];
  readonly plane: NodePlane;

  constructor(options: Partial<NodePlaneOptions> = {}) {
    this.plane = new NodePlane({
      api: this.cluster.apiFor("nodes"),
      clock: this.clock,
      clusterName: "test",
      kubelet: "virtual",
      events: (object, type, reason, message) =>
        this.events.push({ object: object.metadata.name ?? "", type, reason, message }),
      random: () => 0.5,
      ...options,
    });
  }

  get api(): KubeApi {
    return this.cluster.api;
  }

  async start(): Promise<this> {
    await this.cluster.start();
    await this.plane.start();
    return this;
  }

  async stop(): Promise<void> {
    await this.plane.stop();
    await this.cluster.stop();
  }

  async create(pod: Pod): Promise<Pod> {
    const created = await this.api.create(pods, "default", pod);
    await this.clock.settle();
    return created;
  }

  pod(name: string): Promise<Pod> {
    return this.api.get(pods, { namespace: "default", name });
  }

  async isGone(name: string): Promise<boolean> {
    const { items } = await this.api.list(pods, { namespace: "default" });
    return !items.some(({ metadata }) => metadata.name === name);
  }

  key(name: string): ObjectKey {
    return { namespace: "default", name };
  }
}
