import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import type { Rules } from "@jobferry/worker-agent/job-controller/core/rules.ts";
import { defaultLimits } from "@jobferry/worker-agent/job-controller/core/types.ts";
import { type RunningJobController, runJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { type Disturbance, DisturbedApi, Meter } from "./disturbance.ts";
import { type Seen, violationsOf } from "./invariants.ts";
import { KEY, NAMESPACE, type Scenario, type Stage, type Step } from "./scenario.ts";

/** What a run comes to, with everything left out that may differ from run to run. */
export interface Ending {
  readonly status: object | undefined;
  readonly podsLeftWithFinalizer: number;
}

/** A regression brought back on purpose. */
export interface Sabotage {
  readonly rules?: Partial<Rules>;
  /** Stands between the controller and its line to the server. */
  wrap?(api: KubeApi): KubeApi;
}

/** A new instance starts this long after the old one died. */
const RESTART_MS = 500;
/** Longer than any back-off, deadline or grace period of the scenarios. */
const LIMIT_MS = 30 * 60_000;
/** Between what the script waits for and what it does: the controller has time to take note (K-1). */
const A_MOMENT_MS = 1_500;
/** Longer than the last lost event stays lost. */
const AFTERMATH_MS = 22_000;

/** One scenario on one sandbox cluster, on virtual time, with a controller that may die and be started again. */
export class World implements Stage {
  readonly clock = new VirtualClock();
  readonly meter = new Meter();
  readonly api: KubeApi;
  /** What must never be seen, and was. */
  readonly violations: string[] = [];
  /** When the Job was over, in virtual time. */
  overMs = Number.POSITIVE_INFINITY;
  readonly #scenario: Scenario;
  readonly #disturbance: Disturbance | undefined;
  readonly #sabotage: Sabotage;
  readonly #cluster: SandboxCluster;
  readonly #history: Seen[] = [];
  readonly #pods = new Map<string, Pod>();
  #job: Job | undefined;
  #uid = "";
  #letGo = false;
  #controller: RunningJobController | undefined;
  #line: DisturbedApi | undefined;

  constructor(scenario: Scenario, disturbance?: Disturbance, sabotage: Sabotage = {}) {
    this.#scenario = scenario;
    this.#disturbance = disturbance;
    this.#sabotage = sabotage;
    this.#cluster = new SandboxCluster({
      clock: this.clock,
      seed: 7,
      kubelet: "virtual",
      nodes: [{ name: "node", cpu: "64", memory: "64Gi", pods: 1000 }],
      behaviour: (pod, container, attempt) => scenario.behaviour?.(pod, container, attempt) ?? this.#run(),
    });
    this.api = this.#cluster.api;
  }

  /** The Job as it is stored now; undefined when it is gone. */
  get job(): Job | undefined {
    return this.#job;
  }

  get status(): JobStatus {
    return this.#job?.status ?? {};
  }

  /** All pods as they are stored now, oldest first. */
  pods(): Pod[] {
    return [...this.#pods.values()];
  }

  /** Those that the Job controls. */
  owned(): Pod[] {
    return this.pods().filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === this.#uid));
  }

  async edit(spec: object): Promise<void> {
    await this.api.patch(jobs, KEY, { type: "merge", body: { spec } });
  }

  /** Ends the pods that were held, and holds no more. */
  letGo(): undefined {
    this.#letGo = true;
    for (const { metadata } of this.pods()) this.#cluster.nodes?.finish(metadata.uid ?? "");
  }

  async run(): Promise<Ending> {
    await this.#settled(this.#cluster.start());
    const watching = new AbortController();
    void this.#record(jobs, "job", watching.signal);
    void this.#record(pods, "pod", watching.signal);
    await this.#scenario.prepare?.(this);
    await this.#settled(this.#startController());
    this.#uid = (await this.api.create(jobs, NAMESPACE, this.#scenario.job)).metadata.uid ?? "";
    for (const [number, step] of (this.#scenario.steps ?? []).entries()) await this.#take(step, number);
    await this.#until(() => this.#isOver(), "the Job is not over");
    this.overMs = this.clock.monotonic();
    await this.clock.advance(AFTERMATH_MS);
    const ending = this.#ending();
    watching.abort();
    await this.#stop();
    this.#judge();
    return ending;
  }

  #run(): { runMs: number; stopMs?: number } {
    const { holds } = this.#scenario;
    if (holds === undefined || this.#letGo) return { runMs: 2_000 };
    return { runMs: Number.POSITIVE_INFINITY, stopMs: holds.stopMs };
  }

  async #take(step: Step, number: number): Promise<void> {
    await this.#until(() => step.when(this), `step ${number} did not come`);
    await this.clock.advance(A_MOMENT_MS);
    await step.act(this);
    await this.clock.settle();
  }

  async #until(condition: () => boolean, otherwise: string): Promise<void> {
    try {
      await this.clock.runUntil(condition, LIMIT_MS);
    } catch {
      this.violations.push(`${otherwise} after ${LIMIT_MS / 60_000} min: ${JSON.stringify(this.status)}`);
    }
  }

  #isOver(): boolean {
    return this.#scenario.isOver?.(this) ?? (this.#job !== undefined && isFinished(this.#job));
  }

  async #startController(): Promise<void> {
    const line = new DisturbedApi({
      api: this.#cluster.apiFor("controller"),
      clock: this.clock,
      meter: this.meter,
      disturbance: this.#disturbance,
      crash: () => {
        line.kill();
        this.#controller?.abandon();
        this.clock.after(RESTART_MS, () => void this.#startController());
      },
      refused: (what) => this.violations.push(what),
    });
    this.#line = line;
    const { limits } = this.#scenario;
    this.#controller = runJobController({
      api: this.#sabotage.wrap?.(line) ?? line,
      clock: this.clock,
      claim: "unmanaged",
      random: () => 0.5,
      rules: this.#sabotage.rules ?? {},
      ...(limits === undefined ? {} : { limits }),
    });
    await this.#controller.started;
  }

  async #record<T extends KubeObject>(resource: Resource<T>, kind: Seen["kind"], signal: AbortSignal): Promise<void> {
    const { metadata } = await this.api.list(resource, { namespace: NAMESPACE });
    const options = { namespace: NAMESPACE, resourceVersion: metadata.resourceVersion, signal };
    try {
      for await (const batch of this.api.watch(resource, options))
        for (const event of batch) {
          if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
          this.#note({ kind, gone: event.type === "DELETED", object: event.object } as unknown as Seen);
        }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #note(seen: Seen): void {
    this.#history.push(seen);
    const { name = "" } = seen.object.metadata;
    if (seen.kind === "job") {
      if (name === KEY.name) this.#job = seen.gone ? undefined : seen.object;
    } else if (seen.gone) this.#pods.delete(name);
    else this.#pods.set(name, seen.object);
    this.#scenario.reacts?.(this, seen);
  }

  #judge(): void {
    const { limits, mayFall = false, mayExceedParallelism = false, ignores = () => false } = this.#scenario;
    const maxUncountedPods = limits?.maxUncountedPods ?? defaultLimits.maxUncountedPods;
    const expected = { maxUncountedPods, mayFall, mayExceedParallelism, ignores };
    this.violations.push(...violationsOf(this.#history, this.#uid, expected));
    const strangers = [...this.meter.touched].filter((name) => name.startsWith("stranger"));
    if (strangers.length > 0) this.violations.push(`wrote to ${strangers.join(", ")}`);
  }

  #ending(): Ending {
    return {
      status: this.#job?.status === undefined ? undefined : normalised(this.#job.status, this.#scenario),
      podsLeftWithFinalizer: this.pods().filter(
        (pod) => hasTrackingFinalizer(pod) && pod.metadata.name?.startsWith("stranger") !== true,
      ).length,
    };
  }

  async #stop(): Promise<void> {
    this.#line?.kill();
    this.#controller?.abandon();
    void this.#cluster.stop();
    await this.clock.settle();
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
function normalised(status: JobStatus, { mayFailMore }: Scenario): object {
  const { startTime, completionTime, conditions = [], failed = 0, ...counters } = status;
  return {
    ...counters,
    ...(failed > (mayFailMore?.upTo ?? 0) && { failed }),
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
