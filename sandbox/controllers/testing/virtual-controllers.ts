import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs } from "@jobferry/shared/kube/resources.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { VirtualNodes } from "../../nodes/testing/virtual-nodes.ts";
import { PodGc } from "../pod-gc.ts";
import { type CronJob, cronJobs } from "../resources.ts";

/** A cluster on a virtual clock with nodes and controllers, in which a test plays the Job controller. */
export class VirtualControllers extends VirtualNodes {
  readonly #podGc = new PodGc({ api: this.cluster.apiFor("pod-gc"), clock: this.clock, ...this.plane.reflectors });

  override async start(): Promise<this> {
    await super.start();
    this.#podGc.start();
    return this;
  }

  override async stop(): Promise<void> {
    await this.#podGc.stop();
    await super.stop();
  }

  /** What the controllers announced. */
  async announced(): Promise<{ reason: string | undefined; message: string | undefined }[]> {
    const { items } = await this.api.list(events, { namespace: "default" });
    return items.map(({ reason, message }) => ({ reason, message }));
  }

  createCronJob(name: string, spec: Partial<CronJob["spec"]>): Promise<CronJob> {
    const jobTemplate = { metadata: { labels: { run: name } }, spec: aJobSpec() };
    return this.api.create(cronJobs, "default", {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name },
      spec: { schedule: "* * * * *", jobTemplate, ...spec },
    });
  }

  cronJob(name: string): Promise<CronJob> {
    return this.api.get(cronJobs, { namespace: "default", name });
  }

  createJob(name: string, spec: Partial<JobSpec> = {}): Promise<Job> {
    return this.api.create(jobs, "default", {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name },
      spec: { ...aJobSpec(), ...spec },
    });
  }

  /** Names of all Jobs, sorted. */
  async jobNames(): Promise<string[]> {
    const { items } = await this.api.list(jobs, { namespace: "default" });
    return items.map(({ metadata }) => metadata.name ?? "").sort();
  }

  async finishJob(name: string, how: "Complete" | "Failed" = "Complete"): Promise<void> {
    const now = timestamp(this.clock.now());
    const condition = (type: string) => ({
      type,
      status: "True" as const,
      reason: "Test",
      lastProbeTime: now,
      lastTransitionTime: now,
    });
    const interim = how === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    const status = {
      startTime: now,
      ...(how === "Complete" ? { completionTime: now, succeeded: 1 } : { failed: 1 }),
      conditions: [condition(interim), condition(how)],
    };
    await this.api.patch(
      jobs,
      { namespace: "default", name },
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
    await this.clock.settle();
  }
}

function aJobSpec(): JobSpec {
  return { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } } };
}
