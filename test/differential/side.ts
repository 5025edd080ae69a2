import { COMPLETION_INDEX } from "@jobferry/shared/job/keys.ts";
import type { Job, JobSpec, Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { ApiError, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import type { TestCluster } from "../harness/test-cluster.ts";
import { NODE } from "./generate-job.ts";
import type { Observer, Trace } from "./observer.ts";
import { RELEASED, type World } from "./roles.ts";
import type { EditableSpec } from "./script.ts";

const JOB_NAME = "play";

export interface Stage {
  api: KubeApi;
  request: TestCluster["request"];
  observer: Observer;
}

/** One of the two namespaces a case is played in. */
export class Side {
  readonly name: string;
  readonly namespace: string;
  readonly #stage: Stage;
  readonly #managedBy: string | undefined;
  readonly #epochs = new Map<string, number>();
  #jobUid = "";

  constructor(stage: Stage, name: string, namespace: string, managedBy: string | undefined) {
    this.#stage = stage;
    this.name = name;
    this.namespace = namespace;
    this.#managedBy = managedBy;
  }

  get world(): World {
    const { observer } = this.#stage;
    const job = observer.job(this.namespace);
    return { jobUid: this.#jobUid, job, pods: observer.pods(this.namespace), epochs: this.#epochs };
  }

  get trace(): Trace {
    return this.#stage.observer.trace(this.namespace);
  }

  /** All pods not seen before were first seen in this step. */
  markEpoch(step: number): void {
    for (const { metadata } of this.world.pods) {
      const uid = metadata.uid ?? "";
      if (!this.#epochs.has(uid)) this.#epochs.set(uid, step);
    }
  }

  async createJob(spec: JobSpec): Promise<void> {
    const { api } = this.#stage;
    await api.create(namespaces, undefined, { metadata: { name: this.namespace } });
    const job = await api.create(jobs, this.namespace, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: JOB_NAME },
      spec: { ...spec, ...(this.#managedBy === undefined ? {} : { managedBy: this.#managedBy }) },
    });
    this.#jobUid = job.metadata.uid ?? "";
    await this.#until(() => this.world.job?.metadata.uid === this.#jobUid);
  }

  /** The API server's verdict, which both sides must share: an edit may be invalid. */
  async editJob(spec: Partial<EditableSpec>): Promise<string> {
    try {
      const key = { namespace: this.namespace, name: JOB_NAME };
      const { metadata } = await this.#stage.api.patch(jobs, key, { type: "merge", body: { spec } });
      const { generation = 0 } = metadata;
      await this.#until(() => (this.world.job?.metadata.generation ?? generation) >= generation);
      return "done";
    } catch (error) {
      if (error instanceof ApiError && (error.code === 422 || error.code === 404)) return `refused with ${error.code}`;
      throw error;
    }
  }

  async deleteJob(propagationPolicy: "Foreground" | "Background"): Promise<void> {
    await ignoringGone(
      this.#stage.api.delete(jobs, { namespace: this.namespace, name: JOB_NAME }, { propagationPolicy }),
    );
    await this.#until(() => this.world.job === undefined || this.world.job.metadata.deletionTimestamp !== undefined);
  }

  async report(pod: Pod, status: PodStatus): Promise<void> {
    await this.#bind(pod);
    await this.#patch(pod, { status }, "status");
  }

  async setLabel(pod: Pod, label: string, value: string, released: boolean): Promise<void> {
    const annotations = { [RELEASED]: released ? "yes" : null };
    await this.#patch(pod, { metadata: { labels: { [label]: value }, annotations } });
  }

  async deletePod(pod: Pod, options: { now?: boolean } = {}): Promise<void> {
    await ignoringGone(this.#stage.api.delete(pods, this.#key(pod), options.now ? { gracePeriodSeconds: 0 } : {}));
    await this.#until(() => {
      const { metadata } = this.#current(pod) ?? {};
      if (metadata === undefined) return true;
      return options.now ? metadata.deletionGracePeriodSeconds === 0 : metadata.deletionTimestamp !== undefined;
    });
  }

  async evictPod(pod: Pod): Promise<void> {
    await this.#post(pod, "eviction", { apiVersion: "policy/v1", kind: "Eviction" });
    await this.#until(() => this.#current(pod)?.metadata.deletionTimestamp !== undefined || !this.#current(pod));
  }

  /** A pod made from the Job's template that belongs to nobody; its labels match the selector only if `matching`. */
  async createOrphan(job: Job, index: number, matching: boolean): Promise<Pod> {
    const { template, selector, completionMode } = job.spec;
    const [label = ""] = Object.keys(selector?.matchLabels ?? {});
    const indexed = completionMode === "Indexed" ? { [COMPLETION_INDEX]: String(index) } : {};
    const released = matching ? {} : { [RELEASED]: "yes" };
    const pod = await this.#stage.api.create(pods, this.namespace, {
      metadata: {
        generateName: "orphan-",
        labels: { ...template.metadata?.labels, ...(matching ? {} : { [label]: RELEASED }) },
        annotations: { ...template.metadata?.annotations, ...indexed, ...released },
      },
      spec: template.spec,
    });
    await this.#until(() => this.#current(pod) !== undefined || this.trace.podUids.has(pod.metadata.uid ?? ""));
    return pod;
  }

  async #bind(pod: Pod): Promise<void> {
    if ((this.#current(pod) ?? pod).spec.nodeName !== undefined) return;
    const target = { apiVersion: "v1", kind: "Node", name: NODE };
    await this.#post(pod, "binding", { apiVersion: "v1", kind: "Binding", target });
  }

  async #patch(pod: Pod, body: object, subresource?: "status"): Promise<void> {
    const patched = await ignoringGone(
      this.#stage.api.patch(pods, this.#key(pod), { type: "merge", body }, subresource ? { subresource } : {}),
    );
    const version = BigInt(patched?.metadata.resourceVersion ?? 0);
    await this.#until(() => BigInt(this.#current(pod)?.metadata.resourceVersion ?? version) >= version);
  }

  async #post(pod: Pod, subresource: string, body: object): Promise<void> {
    const { name } = pod.metadata;
    const response = await this.#stage.request(`/api/v1/namespaces/${this.namespace}/pods/${name}/${subresource}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body, metadata: { name, namespace: this.namespace } }),
    });
    if (response.status >= 300 && response.status !== 404) {
      throw new Error(`${subresource} of ${this.namespace}/${name}: ${response.status} ${response.text}`);
    }
  }

  #current(pod: Pod): Pod | undefined {
    return this.world.pods.find(({ metadata }) => metadata.uid === pod.metadata.uid);
  }

  #key(pod: Pod): { namespace: string; name: string } {
    return { namespace: this.namespace, name: pod.metadata.name ?? "" };
  }

  /** Our own copy must show what we just wrote before a step looks for pods again. */
  #until(seen: () => boolean): Promise<void> {
    return until(seen, 30_000, `${this.namespace}: the watch did not show a write of this test`);
  }
}

export async function until(holds: () => boolean, limitMs: number, complaint: string): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${complaint} within ${limitMs / 1000} s`);
    await pause(20);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ignoringGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
