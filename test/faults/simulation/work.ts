import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job, JobSpec, PodTemplate } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import type { Book } from "./book.ts";
import { LIFE } from "./pod-lives.ts";
import type { RulesOfTime } from "./rules-of-time.ts";
import type { PlannedJob, WorkStep } from "./steps.ts";
import { CONFIG_MAP, NAMESPACE, type World } from "./world.ts";

/** On a hub Job: its kind, by which it is judged in the end. */
export const KIND = "simulation/kind";

/** Does what the steps of a plan say that users and administrators do. */
export class Work {
  readonly #world: World;
  readonly #book: Book;
  readonly #time: RulesOfTime;
  readonly #drained = new Map<string, boolean>();

  constructor(world: World, book: Book, time: RulesOfTime) {
    this.#world = world;
    this.#book = book;
    this.#time = time;
  }

  do(step: WorkStep): Promise<unknown> {
    switch (step.do) {
      case "submit":
        return this.#hub.create(jobs, NAMESPACE, jobOf(step.job));
      case "edit":
        return this.#patch(step.name, { spec: step.spec });
      case "policy":
        return this.#patch(step.name, { metadata: { annotations: { "jobferry.dev/on-cluster-lost": step.policy } } });
      case "queue policy":
        return this.#queuePolicy(step.policy);
      case "queue":
        return this.#hub.create(jobQueues, undefined, { metadata: { name: step.name }, spec: step.spec });
      case "delete":
        return this.#hub.delete(
          jobs,
          { namespace: NAMESPACE, name: step.name },
          { propagationPolicy: step.propagation },
        );
      case "delete mirror":
        return this.#at(step.cluster, (cluster) => this.#deleteMirror(step.name, cluster));
      case "delete pod":
        return this.#deletePod(step.name);
      case "occupy name":
        return this.#at(step.cluster, (cluster) => this.#occupy(cluster, step.name, step.ms));
      case "drain":
        return this.#at(step.cluster, (cluster) => {
          this.#world.scheduler.at(step.ms, "undrain", () => void this.#drain(cluster, false));
          return this.#drain(cluster, true);
        });
    }
  }

  async #at(text: string, act: (cluster: string) => Promise<unknown>): Promise<void> {
    const cluster = this.#book.clusterOf(text);
    if (cluster !== undefined) await act(cluster);
  }

  get #hub(): KubeApi {
    return this.#world.apiOf("hub");
  }

  #patch(name: string, body: object): Promise<unknown> {
    return this.#hub.patch(jobs, { namespace: NAMESPACE, name }, { type: "merge", body });
  }

  async #queuePolicy(policy: string): Promise<void> {
    const spec = { onClusterLost: policy as "Wait" };
    try {
      await this.#hub.patch(jobQueues, { name: "default" }, { type: "merge", body: { spec } });
    } catch {
      await this.#hub.create(jobQueues, undefined, { metadata: { name: "default" }, spec });
    }
  }

  /** Tried until the hub answers, or the administrator wants something else. */
  async #drain(name: string, drain: boolean): Promise<void> {
    this.#drained.set(name, drain);
    try {
      await this.#hub.patch(workerClusters, { name }, { type: "merge", body: { spec: { drain } } });
      this.#world.trace.say(`${name} ${drain ? "is drained" : "is drained no longer"}`);
    } catch {
      this.#world.scheduler.at(1_000, "drain again", () => {
        if (this.#drained.get(name) === drain) void this.#drain(name, drain);
      });
    }
  }

  async #deleteMirror(name: string, cluster: string): Promise<void> {
    const api = this.#world.apiOf(cluster);
    for (const mirror of this.#book.mirrors.values())
      if (mirror.cluster === cluster && mirror.job.metadata.name === name && !mirror.gone) mirror.byHand = true;
    await api.delete(jobs, { namespace: NAMESPACE, name }, { propagationPolicy: "Background" });
  }

  async #deletePod(name: string): Promise<void> {
    for (const { pod, gone, cluster, hubUid } of this.#book.pods.values()) {
      if (gone || this.#book.hubJobs.get(hubUid)?.name !== name) continue;
      await this.#world.apiOf(cluster).delete(pods, { namespace: NAMESPACE, name: pod.metadata.name ?? "" });
      return;
    }
  }

  /** Somebody's own Job has the name for a while. */
  async #occupy(cluster: string, name: string, ms: number): Promise<void> {
    const api = this.#world.apiOf(cluster);
    const key = { namespace: NAMESPACE, name };
    const template: PodTemplate = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "other" }] } };
    this.#time.obstructed(cluster, name, true);
    const created = await api.create(jobs, NAMESPACE, {
      metadata: { name },
      spec: { managedBy: "example.com/other", template },
    });
    this.#world.scheduler.at(ms, "name is free", () => {
      this.#time.obstructed(cluster, name, false);
      api.delete(jobs, key, { preconditions: { uid: created.metadata.uid ?? "" } }).catch(() => {});
    });
  }
}

function jobOf({
  name,
  kind,
  policy,
  only,
  completions,
  parallelism,
  runMs,
  stopMs,
  suspend,
  deadlineSeconds,
  cpu,
  queue,
  priority,
  reads = false,
}: PlannedJob): Job {
  const isIndexed = kind === "indexed" || kind === "elastic";
  const envFrom = reads ? { envFrom: [{ configMapRef: { name: CONFIG_MAP } }] } : {};
  const fails = kind === "failing" ? "all" : kind === "back-off" ? "2" : "0";
  const spec: JobSpec = {
    managedBy: "jobferry.dev/manager",
    completions,
    parallelism: kind === "elastic" ? completions : parallelism,
    ...(isIndexed ? { completionMode: "Indexed" } : {}),
    ...(kind === "failing" ? { backoffLimit: 1 } : {}),
    ...(suspend ? { suspend } : {}),
    ...(deadlineSeconds === undefined ? {} : { activeDeadlineSeconds: deadlineSeconds }),
    template: {
      metadata: {
        annotations: {
          [LIFE.runMs]: String(runMs),
          [LIFE.stopMs]: String(stopMs),
          [LIFE.fails]: fails,
          [LIFE.job]: name,
        },
      },
      spec: {
        restartPolicy: "Never",
        containers: [
          {
            name: "main",
            image: "busybox",
            ...envFrom,
            ...(cpu === undefined ? {} : { resources: { requests: { cpu: String(cpu) } } }),
          },
        ],
      },
    },
  };
  const annotations = {
    ...(priority === undefined ? {} : { "jobferry.dev/priority": String(priority) }),
    [KIND]: kind,
    ...(policy === undefined || policy === "" ? {} : { "jobferry.dev/on-cluster-lost": policy }),
    ...(only === undefined ? {} : { "jobferry.dev/cluster-selector": `name=${only}` }),
  };
  const labels = queue === undefined ? {} : { labels: { "jobferry.dev/queue": queue } };
  return { metadata: { name, annotations, ...labels }, spec };
}
