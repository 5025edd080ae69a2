import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import type { VirtualBehaviour } from "@jobferry/sandbox/nodes/virtual-runtime.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import type { Rules } from "@jobferry/worker-agent/job-controller/core/rules.ts";
import type { Limits } from "@jobferry/worker-agent/job-controller/core/types.ts";
import { type RunningJobController, runJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { type Disturbance, DisturbedApi, Meter } from "./disturbance.ts";

export const NAMESPACE = "default";
export const KEY = { namespace: NAMESPACE, name: "job" } as const;

export interface Step {
  readonly atMs: number;
  act(world: World): Promise<unknown>;
}

export interface Scenario {
  readonly name: string;
  readonly job: Job;
  /** How its pods run; what is left out succeeds after 2 s. */
  readonly behaviour?: VirtualBehaviour;
  readonly steps?: readonly Step[];
  readonly limits?: Partial<Limits>;
  /** Elastic scaling may lower `succeeded` (IX-11). */
  readonly mayFall?: boolean;
  /** The Job is deleted by the script, so it does not end finished. */
  readonly endsDeleted?: boolean;
}

/** What a run comes to, with everything left out that may differ from run to run. */
export interface Ending {
  readonly status: object | undefined;
  readonly podsLeftWithFinalizer: number;
}

/** A new instance starts this long after the old one died. */
const RESTART_MS = 500;
/** Longer than any back-off, deadline or grace period of the scenarios. */
const LIMIT_MS = 30 * 60_000;
const AFTERMATH_MS = 90_000;

/** One scenario on one sandbox cluster, on virtual time, with a controller that may die and be started again. */
export class World {
  readonly clock = new VirtualClock();
  readonly meter = new Meter();
  /** What must never be seen, and was. */
  readonly violations: string[] = [];
  readonly #scenario: Scenario;
  readonly #cluster: SandboxCluster;
  readonly #disturbance: Disturbance | undefined;
  readonly #rules: Partial<Rules>;
  readonly api: KubeApi;
  #controller: RunningJobController | undefined;
  #line: DisturbedApi | undefined;
  #last: JobStatus | undefined;

  constructor(scenario: Scenario, disturbance?: Disturbance, rules: Partial<Rules> = {}) {
    this.#scenario = scenario;
    this.#disturbance = disturbance;
    this.#rules = rules;
    this.#cluster = new SandboxCluster({
      clock: this.clock,
      seed: 7,
      kubelet: "virtual",
      nodes: [{ name: "node", cpu: "64", memory: "64Gi", pods: 1000 }],
      behaviour: (pod, container, attempt) => scenario.behaviour?.(pod, container, attempt) ?? { runMs: 2_000 },
    });
    this.api = this.#cluster.api;
  }

  async run(): Promise<Ending> {
    const { scenario } = { scenario: this.#scenario };
    await this.#settled(this.#cluster.start());
    const watching = new AbortController();
    const invariants = this.#checkInvariants(watching.signal);
    await this.#settled(this.#startController());
    await this.api.create(jobs, NAMESPACE, scenario.job);
    for (const step of scenario.steps ?? []) {
      await this.clock.advance(Math.max(0, step.atMs - this.clock.monotonic()));
      await step.act(this);
    }
    let over = false;
    const poll = async (): Promise<void> => {
      const job = await this.job();
      over = scenario.endsDeleted === true ? job === undefined : job !== undefined && isFinished(job);
    };
    for (let elapsed = 0; !over && elapsed < LIMIT_MS; elapsed += 5_000) {
      await this.clock.advance(5_000);
      await poll();
    }
    if (!over)
      this.violations.push(`not over after ${LIMIT_MS / 60_000} min: ${JSON.stringify((await this.job())?.status)}`);
    await this.clock.advance(AFTERMATH_MS);
    const ending = await this.#ending();
    watching.abort();
    await this.#stop();
    await invariants;
    return ending;
  }

  async job(): Promise<Job | undefined> {
    try {
      return await this.api.get(jobs, KEY);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async pods(): Promise<Pod[]> {
    return (await this.api.list(pods, { namespace: NAMESPACE })).items;
  }

  async edit(spec: object): Promise<void> {
    await this.api.patch(jobs, KEY, { type: "merge", body: { spec } });
  }

  async #startController(): Promise<void> {
    const line = new DisturbedApi({
      api: this.#cluster.apiFor("controller"),
      clock: this.clock,
      meter: this.meter,
      disturbance: this.#disturbance,
      crash: () => {
        line.kill();
        this.clock.after(RESTART_MS, () => void this.#startController());
      },
    });
    this.#line = line;
    const { limits } = this.#scenario;
    this.#controller = runJobController({
      api: line,
      clock: this.clock,
      claim: "unmanaged",
      random: () => 0.5,
      rules: this.#rules,
      ...(limits === undefined ? {} : { limits }),
    });
    await this.#controller.started;
  }

  /** Scenario E.2: counters never fall, what is published as final stays. E.4 is checked by the sandbox's own validation. */
  async #checkInvariants(signal: AbortSignal): Promise<void> {
    const { metadata } = await this.api.list(jobs, { namespace: NAMESPACE });
    const options = { namespace: NAMESPACE, resourceVersion: metadata.resourceVersion, signal };
    try {
      for await (const batch of this.api.watch(jobs, options))
        for (const event of batch) if (event.type === "ADDED" || event.type === "MODIFIED") this.#compare(event.object);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #compare({ status = {} }: Job): void {
    const last = this.#last ?? {};
    this.#last = status;
    const fell = (field: "failed" | "succeeded"): boolean => (status[field] ?? 0) < (last[field] ?? 0);
    if (fell("failed")) this.violations.push(`failed fell from ${last.failed} to ${status.failed ?? 0}`);
    if (fell("succeeded") && this.#scenario.mayFall !== true)
      this.violations.push(`succeeded fell from ${last.succeeded} to ${status.succeeded ?? 0}`);
    for (const { type, status: value } of last.conditions ?? []) {
      const isFinal = type !== "Suspended" && value === "True";
      if (isFinal && !status.conditions?.some((now) => now.type === type && now.status === "True"))
        this.violations.push(`condition ${type} was withdrawn`);
    }
    const both = status.conditions?.filter(
      ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
    );
    if ((both?.length ?? 0) > 1) this.violations.push("Complete and Failed together");
  }

  async #ending(): Promise<Ending> {
    const job = await this.job();
    const held = (await this.pods()).filter(hasTrackingFinalizer);
    return {
      status: job?.status === undefined ? undefined : normalised(job.status),
      podsLeftWithFinalizer: held.length,
    };
  }

  async #stop(): Promise<void> {
    this.#line?.kill();
    const stopped = Promise.all([this.#controller?.stop(), this.#cluster.stop()]);
    await this.clock.advance(60_000);
    await Promise.race([stopped, this.clock.settle()]);
  }

  /** Starting waits on timers here and there; time must move for it. */
  async #settled(promise: Promise<unknown>): Promise<void> {
    let done = false;
    const finished = promise.then(() => {
      done = true;
    });
    for (let i = 0; !done && i < 100; i++) await this.clock.advance(10);
    await finished;
  }
}

/** Times differ when a controller was away; names are made up anew in every run. */
function normalised(status: JobStatus): object {
  const { startTime, completionTime, conditions = [], ...counters } = status;
  return {
    ...counters,
    started: startTime !== undefined,
    completed: completionTime !== undefined,
    conditions: conditions.map(({ type, status: value, reason, message = "" }) => ({
      type,
      status: value,
      reason,
      message: message.replaceAll(/\b(default\/)?job-[a-z0-9-]+/g, "<pod>"),
    })),
  };
}
