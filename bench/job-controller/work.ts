/** The works that a controller is measured at, on a real API server with pods that finish at once. */
import { setTimeout as delay } from "node:timers/promises";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { GuardedProcess } from "@jobferry/test/harness/guarded-process.ts";
import type { LocalCluster } from "@jobferry/test/harness/real-cluster.ts";
import { controllerWrites, cpuSeconds, writesSince } from "./counters.ts";
import { sum, type WorkFigures, type Writes } from "./figures.ts";

const NAMESPACE = "default";
/** A controller that makes no progress for this long is broken. */
const LIMIT_MS = 600_000;
/** Longer than the built-in controller's batch; a controller that writes nothing for this long is done, events included. */
const QUIET_MS = 1_500;
const MOST_QUIET_CHECKS = 60;

export interface JobSize {
  readonly pods: number;
  readonly parallelism: number;
}

export function benchJob(name: string, { pods, parallelism }: JobSize): Job {
  return {
    metadata: { name },
    spec: {
      completionMode: pods > 1 ? "Indexed" : "NonIndexed",
      completions: pods,
      parallelism,
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [
            {
              name: "main",
              image: "busybox:1",
              command: ["sh", "-c", "true"],
              env: [{ name: "MODE", value: "bench" }],
              resources: { requests: { cpu: "100m", memory: "64Mi" } },
            },
          ],
        },
      },
    },
  };
}

/** Runs Jobs on a cluster and tells when they are finished. */
export class Workshop {
  readonly #cluster: LocalCluster;
  readonly #stop = new AbortController();
  readonly #watch: Promise<void>;
  readonly #waiting = new Map<string, (job: Job) => void>();
  #serial = 0;

  constructor(cluster: LocalCluster) {
    this.#cluster = cluster;
    const reflector = new Reflector<Job>({ api: cluster.api, resource: jobs, clock: realClock, namespace: NAMESPACE });
    reflector.addHandler({ updated: (_, job) => this.#seen(job) });
    this.#watch = reflector.start(this.#stop.signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watch;
  }

  /** Create to Complete of one Job, in milliseconds. */
  async runJob(size: JobSize): Promise<number> {
    const name = `bench-${++this.#serial}`;
    const began = performance.now();
    const finished = new Promise<Job>((resolve) => this.#waiting.set(name, resolve));
    await this.#cluster.api.create<Job>(jobs, NAMESPACE, benchJob(name, size));
    const job = await Promise.race([finished, delay(LIMIT_MS, undefined, { ref: false })]);
    this.#waiting.delete(name);
    if (job?.status?.succeeded !== size.pods)
      throw new Error(`Job ${name} did not complete in ${LIMIT_MS / 1000} s: ${JSON.stringify(job?.status)}`);
    return performance.now() - began;
  }

  /** Jobs of one pod, all at once; the client's connections bound how many creations are under way. */
  async runManyJobs(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.runJob({ pods: 1, parallelism: 1 })));
  }

  /** What a work cost the controller and the API server. */
  async measure(controller: GuardedProcess, work: () => Promise<void>): Promise<WorkFigures> {
    const writes = await this.#writesWhenQuiet();
    const cpu = await this.#cpu(controller);
    const began = performance.now();
    await work();
    const seconds = (performance.now() - began) / 1000;
    const writesAfter = await this.#writesWhenQuiet();
    const cpuAfter = await this.#cpu(controller);
    return {
      seconds,
      cpuSeconds: cpuAfter.controller - cpu.controller,
      allCpuSeconds: cpuAfter.all - cpu.all,
      writes: writesSince(writes, writesAfter),
    };
  }

  /** Removes all Jobs and pods, so that every turn begins with an empty cluster. */
  async clear(): Promise<void> {
    const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 });
    for (const collection of ["/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods"]) {
      const headers = { "content-type": "application/json" };
      const { status, text } = await this.#cluster.request(collection, { method: "DELETE", headers, body });
      if (status !== 200) throw new Error(`clearing ${collection} failed: ${status} ${text.slice(0, 500)}`);
    }
  }

  async #cpu({ pid }: GuardedProcess): Promise<{ controller: number; all: number }> {
    const { controlPlane } = this.#cluster;
    const others = ["kube-apiserver", "etcd", "instant-pods"].map((program) => controlPlane.process(program).pid);
    const [controller = 0, ...rest] = await Promise.all([pid, ...others].map(cpuSeconds));
    return { controller, all: controller + sum(rest) };
  }

  async #writesWhenQuiet(): Promise<Writes> {
    let last = await controllerWrites(this.#cluster);
    for (let check = 0; check < MOST_QUIET_CHECKS; check++) {
      await delay(QUIET_MS);
      const now = await controllerWrites(this.#cluster);
      if (sum(Object.values(now)) === sum(Object.values(last))) break;
      last = now;
    }
    return last;
  }

  #seen(job: Job): void {
    if (isFinished(job)) this.#waiting.get(job.metadata.name ?? "")?.(job);
  }
}
