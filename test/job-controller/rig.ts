/** A Job controller on a sandbox cluster and a virtual clock, with its writes written down the way section 20.1 does. */

import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { bindings } from "@jobferry/sandbox/nodes/resources.ts";
import type { Job, JobCondition, JobSpec, JobStatus, Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import {
  type RunningJobController,
  type RunOptions,
  runJobController,
} from "@jobferry/worker-agent/job-controller/run.ts";

const NAMESPACE = "default";

export class Rig {
  readonly clock = new VirtualClock();
  readonly cluster = new SandboxCluster({ clock: this.clock, seed: 1 });
  readonly api = this.cluster.api;
  /** What the controller wrote, in order. */
  readonly trace: string[] = [];
  readonly #aliases = new Map<string, string>();
  readonly #options: Partial<RunOptions>;
  #controller: RunningJobController | undefined;

  constructor(options: Partial<RunOptions> = {}) {
    this.#options = options;
  }

  async start(): Promise<this> {
    this.#controller = runJobController({
      clock: this.clock,
      claim: "unmanaged",
      random: () => 0.5,
      ...this.#options,
      api: recording(this.cluster.apiFor("controller"), (line) => this.trace.push(line), this.#aliases),
    });
    await this.#controller.started;
    return this;
  }

  async stop(): Promise<void> {
    const stopped = this.#controller?.stop();
    await this.clock.advance(5000);
    await stopped;
  }

  /** The controller ends as in a crash; `start` brings its successor. */
  crash(): void {
    this.#controller?.abandon();
  }

  async submit(spec: Partial<JobSpec> = {}, annotations: Record<string, string> = {}): Promise<void> {
    await this.api.create(jobs, NAMESPACE, {
      metadata: { name: "job", annotations },
      spec: {
        ...spec,
        template: { spec: { containers: [{ name: "main", image: "busybox" }], restartPolicy: "Never" } },
      },
    });
    await this.clock.advance(0);
  }

  async editJob(spec: Partial<JobSpec>): Promise<void> {
    await this.api.patch(jobs, { namespace: NAMESPACE, name: "job" }, { type: "merge", body: { spec } });
    await this.clock.advance(0);
  }

  async job(): Promise<Job> {
    return await this.api.get(jobs, { namespace: NAMESPACE, name: "job" });
  }

  async pods(): Promise<Pod[]> {
    return (await this.api.list(pods, { namespace: NAMESPACE })).items;
  }

  /** `a` is the first pod that was created, `b` the second. */
  async ready(...aliases: string[]): Promise<void> {
    await this.#each(aliases, async (key) => {
      await this.api.create(bindings, NAMESPACE, {
        metadata: { name: key.name },
        target: { apiVersion: "v1", kind: "Node", name: "node" },
      });
      const lastTransitionTime = timestamp(this.clock.now());
      await this.#setStatus(key, {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True", lastTransitionTime }],
      });
    });
  }

  async succeed(...aliases: string[]): Promise<void> {
    await this.#each(aliases, (key) => this.#setStatus(key, { phase: "Succeeded", conditions: [] }));
  }

  async fail(...aliases: string[]): Promise<void> {
    const finishedAt = timestamp(this.clock.now());
    const containerStatuses = [{ name: "main", restartCount: 0, state: { terminated: { exitCode: 1, finishedAt } } }];
    await this.#each(aliases, (key) => this.#setStatus(key, { phase: "Failed", conditions: [], containerStatuses }));
  }

  /** As a user does: with the grace period. */
  async delete(...aliases: string[]): Promise<void> {
    await this.#each(aliases, async (key) => {
      await this.api.delete(pods, key);
    });
  }

  /** As a kubelet does when the containers have ended. */
  async vanish(...aliases: string[]): Promise<void> {
    await this.#each(aliases, async (key) => {
      await this.api.delete(pods, key, { gracePeriodSeconds: 0 });
    });
  }

  /** What was written since the last call. */
  written(): string[] {
    return this.trace.splice(0);
  }

  async #each(aliases: string[], change: (key: { namespace: string; name: string }) => Promise<void>): Promise<void> {
    for (const alias of aliases) {
      const name = [...this.#aliases].find(([, known]) => known === alias)?.[0];
      if (name === undefined) throw new Error(`no pod ${alias} was created`);
      await change({ namespace: NAMESPACE, name });
    }
    await this.clock.advance(0);
  }

  async #setStatus(key: { namespace: string; name: string }, status: PodStatus): Promise<void> {
    await this.api.patch(pods, key, { type: "merge", body: { status } }, { subresource: "status" });
  }
}

/** Passes everything through and writes down what concerns Jobs and pods. */
function recording(api: KubeApi, write: (line: string) => void, aliases: Map<string, string>): KubeApi {
  const alias = (name = ""): string => aliases.get(name) ?? name;
  const aliasOfUid = new Map<string, string>();
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    async create(resource, namespace, object, options) {
      const created = await api.create(resource, namespace, object, options);
      if (resource.plural === "pods") {
        const letter = String.fromCharCode("a".charCodeAt(0) + aliases.size);
        aliases.set(created.metadata.name ?? "", letter);
        aliasOfUid.set(created.metadata.uid ?? "", letter);
        write(`create ${letter}`);
      }
      return created;
    },
    async replace(resource, key, object, options) {
      const before = await api.get(resource, key);
      const stored = await api.replace(resource, key, object, options);
      const statusOf = (job: unknown): JobStatus => (job as Job).status ?? {};
      write(`W{${statusChange(statusOf(before), statusOf(stored), aliasOfUid)}}`);
      return stored;
    },
    async patch(resource, key, patch, options) {
      const patched = await api.patch(resource, key, patch, options);
      if (resource.plural === "pods") write(`P ${alias(key.name)}`);
      return patched;
    },
    async delete(resource, key, options) {
      const deleted = await api.delete(resource, key, options);
      write(`delete ${alias(key.name)}`);
      return deleted;
    },
  };
}

const SHORT: Readonly<Record<string, string>> = { SuccessCriteriaMet: "SCM", FailureTarget: "FT" };

/** Only changed fields, in the order of the specification's traces. */
function statusChange(before: JobStatus, after: JobStatus, aliases: ReadonlyMap<string, string>): string {
  const parts: string[] = [];
  if (before.startTime !== after.startTime) parts.push(after.startTime === undefined ? "startTime null" : "startTime");
  for (const field of ["active", "ready", "terminating", "succeeded", "failed"] as const) {
    if (before[field] !== after[field]) parts.push(`${field} ${after[field] ?? 0}`);
  }
  for (const field of ["completedIndexes", "failedIndexes"] as const)
    if (before[field] !== after[field]) parts.push(`${field} "${after[field] ?? ""}"`);
  parts.push(...uncountedChange(before, after, aliases));
  const old = before.conditions ?? [];
  for (const condition of after.conditions ?? [])
    if (!old.some((known) => sameCondition(known, condition))) parts.push(describe(condition));
  if (before.completionTime !== after.completionTime) parts.push("completionTime");
  return parts.join(", ");
}

function uncountedChange(before: JobStatus, after: JobStatus, aliases: ReadonlyMap<string, string>): string[] {
  const text = (status: JobStatus): string[] =>
    (["succeeded", "failed"] as const).flatMap((list) => {
      const uids = status.uncountedTerminatedPods?.[list] ?? [];
      return uids.length === 0 ? [] : [`uncounted.${list} [${uids.map((uid) => aliases.get(uid) ?? uid).join(",")}]`];
    });
  const now = text(after);
  if (before.uncountedTerminatedPods !== undefined && text(before).join() === now.join()) return [];
  return now.length === 0 ? ["uncounted {}"] : now;
}

const sameCondition = (a: JobCondition, b: JobCondition): boolean => a.type === b.type && a.status === b.status;

function describe({ type, status, reason = "" }: JobCondition): string {
  const name = SHORT[type] ?? type;
  if (type === "Suspended") return `${name} ${status}`;
  return name === type ? name : `${name} ${reason}`;
}
