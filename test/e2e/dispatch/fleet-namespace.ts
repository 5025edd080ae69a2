/** One namespace of a fleet, on the hub and on its workers: scenarios that run at the same time have one each. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Job, JobSpec, ObjectMeta, Pod, PodSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { events, jobs, type KubeEvent, pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, HUB_MANAGED_BY, HUB_UID_LABEL, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { History } from "./history.ts";

export interface JobOptions {
  spec?: Partial<Omit<JobSpec, "template">>;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Of the pods: their annotations tell the stand-in kubelet how they run. */
  pod?: ObjectMeta & { spec?: Partial<PodSpec> };
  requests?: Record<string, string>;
}

/** How long the stand-in kubelet runs a pod, and its exit code. */
export const RUN = "instant-pods/run";
export const EXIT_CODE = "instant-pods/exit-code";
/** What `FleetNamespace.end` gives a pod, once. */
const ENDED = "0s";

/** Runs until the test ends it. */
export const forever = { annotations: { [RUN]: "forever" } };

/** A pod that is deleted stays, terminating, until `FleetNamespace.release`. */
export const held = { ...forever, finalizers: ["example.com/held"] };

export interface WorkerPod {
  readonly cluster: string;
  readonly pod: Pod;
}

interface Member {
  readonly api: KubeApi;
}

/** What the scenarios need of a fleet, so that the simulated and the real one are asked the same. */
export interface ScenarioFleet {
  readonly hub: Member;
  readonly workers: ReadonlyMap<string, Member>;
  /** Of this fleet: a simulated one has its own time. */
  readonly clock: Clock;
  worker(name: string): Member;
  /** A new namespace on the hub and on the workers. */
  namespace(name: string): Promise<FleetNamespace>;
  /** The namespace of the mirrors of a hub namespace's Jobs. */
  mapped(namespace: string): string;
  /** Has the end of the fleet end this as well. */
  attach(part: { stop(graceMs?: number): Promise<void> }): void;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** A scenario has said by annotations how a running pod ends: where nobody watches those, the pod is ended here. */
  podEnded?(pod: WorkerPod, exitCode: number): void;
}

export class FleetNamespace<Of extends ScenarioFleet = ScenarioFleet> {
  readonly fleet: Of;
  readonly name: string;

  constructor(fleet: Of, name: string) {
    this.fleet = fleet;
    this.name = name;
  }

  get #hub(): KubeApi {
    return this.fleet.hub.api;
  }

  /** Of the mirrors. */
  get mapped(): string {
    return this.fleet.mapped(this.name);
  }

  async submit(metadata: string | ObjectMeta, options: JobOptions = {}): Promise<Job> {
    const { spec, labels = {}, annotations = {}, pod: { spec: podSpec, ...pod } = {}, requests } = options;
    const resources = requests === undefined ? {} : { resources: { requests } };
    return await this.#hub.create(jobs, this.name, {
      metadata: { ...(typeof metadata === "string" ? { name: metadata } : metadata), labels, annotations },
      spec: {
        managedBy: HUB_MANAGED_BY,
        ...spec,
        template: {
          metadata: pod,
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", ...resources }], ...podSpec },
        },
      },
    });
  }

  async edit(name: string, body: object): Promise<void> {
    await this.#hub.patch(jobs, { namespace: this.name, name }, { type: "merge", body });
  }

  async delete(name: string, propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background"): Promise<void> {
    await this.#hub.delete(jobs, { namespace: this.name, name }, { propagationPolicy });
  }

  job(name: string): Promise<Job | undefined> {
    return find(this.#hub, this.name, name);
  }

  /** Why it waits, or where it went. */
  async message(name: string): Promise<string> {
    return (await this.job(name))?.metadata.annotations?.[MESSAGE] ?? "";
  }

  /** The cluster that the Job is assigned to; empty when it is on none. */
  async cluster(name: string): Promise<string> {
    return (await this.job(name))?.metadata.annotations?.[CLUSTER] ?? "";
  }

  async mirrorOn(cluster: string, name: string): Promise<Job | undefined> {
    return find(this.fleet.worker(cluster).api, this.mapped, name);
  }

  /** The cluster that the Job is assigned to, and its mirror there. */
  async mirror(name: string): Promise<{ cluster: string; mirror: Job | undefined }> {
    const cluster = await this.cluster(name);
    return { cluster, mirror: cluster === "" ? undefined : await this.mirrorOn(cluster, name) };
  }

  /** The Job's pods on all workers. */
  async pods(name: string): Promise<WorkerPod[]> {
    const found = [...this.fleet.workers].map(async ([cluster, { api }]) => {
      const { items } = await api.list(pods, { namespace: this.mapped, labelSelector: `job-name=${name}` });
      return items.map((pod) => ({ cluster, pod }));
    });
    return (await Promise.all(found)).flat();
  }

  /** Ends one running pod of the Job, of this index if one is given. */
  async end(name: string, exitCode: number, index?: number): Promise<void> {
    let running: WorkerPod | undefined;
    await this.until(`a pod of ${name} runs`, async () => {
      running = (await this.pods(name)).find(
        ({ pod }) =>
          pod.status?.phase === "Running" &&
          pod.metadata.deletionTimestamp === undefined &&
          pod.metadata.annotations?.[RUN] !== ENDED &&
          (index === undefined || completionIndex(pod) === index),
      );
      return running !== undefined;
    });
    const annotations = { [RUN]: ENDED, [EXIT_CODE]: String(exitCode) };
    await this.#editPod(running as WorkerPod, { annotations });
    this.fleet.podEnded?.(running as WorkerPod, exitCode);
  }

  /** Lets `held` pods go. */
  async release(name: string): Promise<void> {
    for (const each of await this.pods(name)) {
      const finalizers = each.pod.metadata.finalizers?.filter((finalizer) => !held.finalizers.includes(finalizer));
      const { resourceVersion } = each.pod.metadata;
      await this.#editPod(each, { finalizers, resourceVersion }).catch(async (error: unknown) => {
        // Its controller was faster: look again.
        if (!isNotFound(error)) await this.release(name);
      });
    }
  }

  async #editPod({ cluster, pod }: WorkerPod, metadata: object): Promise<void> {
    const { namespace = "", name = "" } = pod.metadata;
    await this.fleet.worker(cluster).api.patch(pods, { namespace, name }, { type: "merge", body: { metadata } });
  }

  /** What `kubectl describe job` lists on the hub. */
  async events(name: string): Promise<KubeEvent[]> {
    const { items } = await this.#hub.list(events, { namespace: this.name });
    return items.filter(({ involvedObject }) => involvedObject.kind === "Job" && involvedObject.name === name);
  }

  /** Every state of the hub's Jobs of this name, from now on. */
  follow(name: string): Promise<History> {
    return this.#follow(this.#hub, this.name, name);
  }

  /** Every state of a cluster's Jobs of this name, from now on. */
  followOn(cluster: string, name: string): Promise<History> {
    return this.#follow(this.fleet.worker(cluster).api, this.mapped, name);
  }

  async #follow(api: KubeApi, namespace: string, name: string): Promise<History> {
    const history = await History.of(this.fleet, api, namespace, name);
    this.fleet.attach(history);
    return history;
  }

  /** Counts the pods that come to be on the workers, from now on; a Job has at least one. */
  async countPods(): Promise<(job: string) => Promise<number>> {
    const byJob = new Map<string, Set<string>>();
    for (const { api } of this.fleet.workers.values()) {
      const reflector = new Reflector({ api, clock: this.fleet.clock, resource: pods, namespace: this.mapped });
      reflector.addHandler({
        added: ({ metadata: { labels, uid = "" } }) => {
          const job = labels?.["job-name"] ?? "";
          byJob.set(job, (byJob.get(job) ?? new Set()).add(uid));
        },
      });
      const end = new AbortController();
      const watching = reflector.start(end.signal);
      this.fleet.attach({
        stop: () => {
          end.abort();
          return watching;
        },
      });
      await reflector.whenSynced();
    }
    return async (job) => {
      await this.until(`a pod of ${job} was seen`, async () => byJob.has(job));
      return byJob.get(job)?.size ?? 0;
    };
  }

  until(what: string, holds: () => Promise<boolean>): Promise<void> {
    return this.fleet.until(`${this.name}: ${what}`, holds);
  }

  async untilMessage(name: string, pattern: RegExp): Promise<void> {
    let message = "";
    await this.until(`${name} says ${pattern}`, async () => {
      message = await this.message(name);
      return pattern.test(message);
    }).catch((error: Error) => {
      throw new Error(`it says ${JSON.stringify(message)}, ${error.message}`);
    });
  }

  async untilActive(name: string, active: number): Promise<void> {
    await this.until(
      `${name} has ${active} active`,
      async () => ((await this.job(name))?.status?.active ?? 0) === active,
    );
  }

  async untilFinished(name: string): Promise<Job> {
    let job: Job | undefined;
    await this.until(`${name} is finished`, async () => {
      job = await this.job(name);
      return job !== undefined && isFinished(job);
    });
    return job as Job;
  }

  /** On the hub. */
  async untilGone(name: string): Promise<void> {
    await this.until(`${name} is gone`, async () => (await this.job(name)) === undefined);
  }

  /** Neither a mirror nor a pod of it on any worker. */
  async untilNothingIsLeft(name: string): Promise<void> {
    await this.until(`nothing of ${name} is left on the workers`, async () => {
      const found = await Promise.all([...this.fleet.workers.keys()].map((cluster) => this.mirrorOn(cluster, name)));
      const mirrors = found.filter((job) => job?.metadata.labels?.[HUB_UID_LABEL] !== undefined);
      return mirrors.length === 0 && (await this.pods(name)).length === 0;
    });
  }
}

/** The conditions in short: `Complete=True/CompletionsReached`. */
export const conditionsOf = (job: Job | undefined): string[] =>
  (job?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}/${reason}`);

async function find(api: KubeApi, namespace: string, name: string): Promise<Job | undefined> {
  try {
    return await api.get(jobs, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
