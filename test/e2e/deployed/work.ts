/** Jobs of a deployed fleet that run while something is done to it, and what becomes of them. */
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { expect } from "vitest";
import { until } from "../../fleet/until.ts";
import type { DeployedFleet } from "./deployed-fleet.ts";

const POLL_MS = 500;

export class Work {
  readonly #fleet: DeployedFleet;
  readonly #limitMs: number;
  /** Every pod of the workers that was seen to have succeeded, by Job. */
  readonly #succeeded = new Map<string, Set<string>>();
  readonly #watching = new AbortController();

  constructor(fleet: DeployedFleet, limitMs: number) {
    this.#fleet = fleet;
    this.#limitMs = limitMs;
  }

  /** Sees every pod that succeeds from now on. */
  async watch(): Promise<void> {
    for (const { cluster } of this.#fleet.workers.values()) {
      const reflector = new Reflector({ api: cluster.api, clock: realClock, resource: pods, namespace: "default" });
      reflector.addHandler({ added: (pod) => this.#seen(pod), updated: (_, pod) => this.#seen(pod) });
      void reflector.start(this.#watching.signal);
      await reflector.whenSynced();
    }
  }

  close(): void {
    this.#watching.abort();
  }

  /** Jobs, something done in the middle of them, and the end of all. */
  async during(name: string, count: number, fault: () => Promise<void>): Promise<void> {
    const names = await this.submit(name, count);
    await this.#untilInTheMiddle(names);
    await fault();
    await this.expectAllRight(names);
  }

  async submit(prefix: string, count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    for (const name of names) await this.#fleet.hub.cluster.api.create(jobs, "default", aJob(name));
    return names;
  }

  /** Each is complete, with one pod that succeeded: none ran twice, none was forgotten. */
  async expectAllRight(names: readonly string[]): Promise<void> {
    const open = async (): Promise<string[]> =>
      (await this.#read(names))
        .filter((job) => condition(job, "Complete") !== "True" && condition(job, "Failed") !== "True")
        .map(({ metadata: { name, annotations }, status }) => `${name}: ${JSON.stringify({ status, annotations })}`);
    await until("all Jobs have ended", async () => (await open()).length === 0, {
      limitMs: this.#limitMs,
      everyMs: POLL_MS,
      explain: async () => `${(await open()).join("\n")}\n${await this.#fleet.logs(this.#fleet.hub.cluster)}`,
    });
    const outcome = (job: Job) => ({
      name: job.metadata.name,
      complete: condition(job, "Complete"),
      succeeded: job.status?.succeeded,
      pods: this.#succeeded.get(job.metadata.name ?? "")?.size,
    });
    const expected = names.toSorted().map((name) => ({ name, complete: "True", succeeded: 1, pods: 1 }));
    expect((await this.#read(names)).map(outcome)).toEqual(expected);
  }

  /** In the middle: something has ended, not all. */
  async #untilInTheMiddle(names: readonly string[]): Promise<void> {
    await until(
      "the first Job is complete",
      async () => (await this.#read(names)).some((job) => condition(job, "Complete") === "True"),
      { limitMs: this.#limitMs, everyMs: POLL_MS, explain: () => this.#fleet.logs(this.#fleet.hub.cluster) },
    );
  }

  /** By name. */
  async #read(names: readonly string[]): Promise<Job[]> {
    const wanted = new Set(names);
    const { items } = await this.#fleet.hub.cluster.api.list(jobs, { namespace: "default" });
    return items.filter(({ metadata }) => wanted.has(metadata.name ?? ""));
  }

  #seen({ metadata, status }: Pod): void {
    const job = metadata.labels?.["batch.kubernetes.io/job-name"];
    if (status?.phase !== "Succeeded" || job === undefined) return;
    this.#succeeded.set(job, (this.#succeeded.get(job) ?? new Set()).add(metadata.uid ?? ""));
  }
}

const aJob = (name: string): Job =>
  ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      managedBy: "jobferry.dev/manager",
      backoffLimit: 10, // each fault may cost a pod
      template: {
        spec: {
          restartPolicy: "Never",
          terminationGracePeriodSeconds: 1,
          automountServiceAccountToken: false,
          containers: [{ name: "main", image: "busybox:1", command: ["sh", "-c", `echo ${name}; sleep 1`] }],
        },
      },
    },
  }) as Job;

const condition = ({ status }: Job, type: string): string | undefined =>
  status?.conditions?.find((each) => each.type === type)?.status;
