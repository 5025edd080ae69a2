/** Jobs for a cluster, and when they were seen to be done. */
import { setTimeout as delay } from "node:timers/promises";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { benchJob } from "../job-controller/work.ts";

export const NAMESPACE = "default";
/** A fleet in which nothing finishes for this long is broken. */
const LIMIT_MS = 300_000;

/** The Job of this name, whose pods read the ConfigMap `map` if one is named. */
export type Shape = (name: string, map?: string) => Job;

export interface Done {
  readonly job: Job;
  readonly atMs: number;
}

/** Runs one-pod Jobs by creating them on one cluster and waiting until it shows them as finished. */
export class Submitter {
  readonly #api: KubeApi;
  readonly #managedBy: string | undefined;
  readonly #shape: Shape;
  readonly #stop = new AbortController();
  readonly #watch: Promise<void>;
  readonly #waiting = new Map<string, (done: Done) => void>();
  static #serial = 0;

  /** `dispatched`: by the manager; else by the cluster's own controller. */
  constructor(api: KubeApi, by: "dispatched" | "built-in", shape: Shape = differentJob) {
    this.#api = api;
    this.#shape = shape;
    this.#managedBy = by === "dispatched" ? HUB_MANAGED_BY : undefined;
    const reflector = new Reflector<Job>({ api, resource: jobs, clock: realClock, namespace: NAMESPACE });
    reflector.addHandler({ updated: (_, job) => this.#seen(job) });
    this.#watch = reflector.start(this.#stop.signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watch;
  }

  static newName(): string {
    return `bench-${++Submitter.#serial}`;
  }

  /** `map`: a ConfigMap that its pods read. */
  async create(name: string, map?: string): Promise<Job> {
    const job = this.#shape(name, map);
    const spec = this.#managedBy === undefined ? job.spec : { ...job.spec, managedBy: this.#managedBy };
    return await this.#api.create<Job>(jobs, NAMESPACE, { ...job, spec });
  }

  /** When the Job is Complete; to be asked before it is created. */
  async complete(name: string): Promise<Done> {
    const finished = new Promise<Done>((resolve) => this.#waiting.set(name, resolve));
    const done = await Promise.race([finished, delay(LIMIT_MS, undefined, { ref: false })]);
    this.#waiting.delete(name);
    if (done?.job.status?.succeeded !== 1)
      throw new Error(`Job ${name} did not complete: ${JSON.stringify(done?.job.status ?? "no word of it")}`);
    return done;
  }

  /** Creates `count` Jobs, `creators` at a time, and returns when all are Complete: seconds since the first was sent. */
  async burst(count: number, creators: number): Promise<number> {
    const names = Array.from({ length: count }, () => Submitter.newName());
    const completions = Promise.all(names.map((name) => this.complete(name)));
    const began = performance.now();
    await this.#createAll(names, creators);
    const done = await completions;
    return (Math.max(...done.map(({ atMs }) => atMs)) - began) / 1000;
  }

  /** Creates Jobs and waits for none of them. */
  async createMany(count: number, creators: number): Promise<void> {
    await this.#createAll(
      Array.from({ length: count }, () => Submitter.newName()),
      creators,
    );
  }

  async #createAll(names: readonly string[], creators: number): Promise<void> {
    const queue = names.values();
    const creator = async (): Promise<void> => {
      for (const name of queue) await this.create(name);
    };
    await Promise.all(Array.from({ length: creators }, creator));
  }

  #seen(job: Job): void {
    const tell = this.#waiting.get(job.metadata.name ?? "");
    if (tell !== undefined && isFinished(job)) tell({ job, atMs: performance.now() });
  }
}

const CPUS = ["50m", "100m", "250m", "500m", "1"];
const MEMORIES = ["32Mi", "64Mi", "256Mi", "1Gi"];
const TEAMS = ["ingest", "train", "report"];

/** One-pod Jobs that differ as users' Jobs do: 60 sizes, and an environment of 1 to 12 variables. Its name decides. */
function differentJob(name: string, map?: string): Job {
  const job = benchJob(name, { pods: 1, parallelism: 1 });
  const serial = Number(/\d+$/.exec(name)?.[0] ?? 0);
  const pick = <T>(from: readonly T[], turn: number): T | undefined => from[Math.floor(serial / turn) % from.length];
  const requests = { cpu: pick(CPUS, 1) ?? "", memory: pick(MEMORIES, CPUS.length) ?? "" };
  const env = Array.from({ length: 1 + (serial % 12) }, (_, index) => ({
    name: `V${index}`,
    value: `${name}-${index}`,
  }));
  const { template } = job.spec;
  const [main, ...others] = template.spec.containers;
  if (main === undefined) throw new Error("a Job without containers");
  const labels = { team: pick(TEAMS, CPUS.length * MEMORIES.length) ?? "" };
  const envFrom = map === undefined ? {} : { envFrom: [{ configMapRef: { name: map } }] };
  const containers = [{ ...main, env, ...envFrom, resources: { requests } }, ...others];
  return {
    ...job,
    spec: { ...job.spec, template: { ...template, metadata: { labels }, spec: { ...template.spec, containers } } },
  };
}
