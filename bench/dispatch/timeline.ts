/**
 * Where the time of one Job goes. Every step is seen from outside: writes by watching the clusters, messages by Redis'
 * MONITOR. What is seen by a watch is late by the time of that watch, a millisecond or two.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isComplete } from "@jobferry/shared/job/conditions.ts";
import { JOB_NAME_LABEL, TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER } from "@jobferry/shared/protocol/marks.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { Step } from "./figures.ts";
import type { BenchFleet } from "./fleet.ts";
import { NAMESPACE, Submitter } from "./work.ts";

const STEPS = [
  "the hub has answered the create",
  "assignment stored on the hub",
  "delivery in Redis",
  "the agent has taken it",
  "mirror exists on the worker",
  "pod exists",
  "pod bound to a node",
  "pod has ended",
  "mirror counts the pod as active",
  "mirror notes the ended pod",
  "pod's finalizer removed",
  "mirror is Complete",
  "report in Redis",
  "the manager has taken it",
  "Complete on the hub",
] as const;
type StepName = (typeof STEPS)[number];

/** The steps of the Job that runs now. */
class Recording {
  readonly #began = performance.now();
  readonly at = new Map<StepName, number>();
  /** Every message from an agent: which of them told of the end is known afterwards. */
  readonly #reports = new Map<string, { readonly storedAt: number; takenAt?: number }>();

  /** Only the first time counts; what was before the start was about another Job. */
  mark(step: StepName, now = performance.now()): void {
    if (!this.at.has(step) && now >= this.#began) this.at.set(step, now - this.#began);
  }

  reportStored(key: string, now: number): void {
    this.#reports.set(key, { storedAt: now });
  }

  reportTaken(key: string, now: number): void {
    const report = this.#reports.get(key);
    if (report !== undefined) report.takenAt = now;
  }

  /** What is told by watches and by Redis may come a little after what it tells of. */
  async whole(completeAt: number): Promise<this> {
    for (let look = 0; look < 50 && this.at.size < STEPS.length; look++) {
      this.#markLastReport(completeAt);
      await delay(10);
    }
    return this;
  }

  /** Messages are sealed. The last one that the manager took before it wrote the end is the one that told of it. */
  #markLastReport(completeAt: number): void {
    const last = [...this.#reports.values()].findLast(({ takenAt }) => takenAt !== undefined && takenAt < completeAt);
    if (last?.takenAt === undefined) return;
    this.mark("report in Redis", last.storedAt);
    this.mark("the manager has taken it", last.takenAt);
  }
}

export async function timeline(fleet: BenchFleet, count: number): Promise<Step[]> {
  const observer = new Observer();
  const hub = new Submitter(fleet.real.hub.api, "dispatched");
  const monitor = await openMonitor(fleet);
  monitor.on("monitor", (time: string, args: string[]) => observer.redisDid(Number(time) * 1000, args));
  observer.watch(fleet.real.hub.api, jobs, (job) => observer.hubJob(job));
  for (const { api } of fleet.workers) {
    observer.watch(api, jobs, (job) => observer.mirror(job));
    observer.watch(api, pods, (pod) => observer.pod(pod));
  }
  await observer.ready();
  const recordings: Recording[] = [];
  try {
    for (let job = 0; job < count; job++) {
      const name = Submitter.newName();
      const complete = hub.complete(name);
      const recording = observer.begin(name);
      await hub.create(name);
      recording.mark(STEPS[0]);
      const { atMs } = await complete;
      recording.mark("Complete on the hub", atMs);
      recordings.push(await recording.whole(atMs));
    }
  } finally {
    monitor.disconnect();
    await Promise.all([hub.close(), observer.close()]);
  }
  return STEPS.map((what) => ({ what, atMs: recordings.map(({ at }) => at.get(what) ?? Number.NaN) }));
}

/** `monitor` makes a connection of its own; the one it was asked on is not needed any more. */
async function openMonitor(fleet: BenchFleet) {
  const connection = fleet.real.redis.duplicate();
  const monitor = await connection.monitor();
  connection.disconnect();
  return monitor;
}

class Observer {
  readonly #deliveries = new Set<string>();
  readonly #stop = new AbortController();
  readonly #watches: Promise<void>[] = [];
  readonly #synced: Promise<void>[] = [];
  #name = "";
  #recording = new Recording();

  begin(name: string): Recording {
    this.#name = name;
    this.#recording = new Recording();
    return this.#recording;
  }

  watch<T extends KubeObject>(api: KubeApi, resource: Resource<T>, see: (object: T) => void): void {
    const reflector = new Reflector<T>({ api, resource, clock: realClock, namespace: NAMESPACE });
    reflector.addHandler({ added: see, updated: (_, object) => see(object) });
    this.#watches.push(reflector.start(this.#stop.signal));
    this.#synced.push(reflector.whenSynced());
  }

  async ready(): Promise<void> {
    await Promise.all(this.#synced);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watches);
  }

  hubJob(job: Job): void {
    if (job.metadata.name !== this.#name) return;
    if (job.metadata.annotations?.[CLUSTER] !== undefined) this.#recording.mark("assignment stored on the hub");
  }

  mirror(job: Job): void {
    if (job.metadata.name !== this.#name) return;
    const { active = 0, uncountedTerminatedPods: uncounted } = job.status ?? {};
    this.#recording.mark("mirror exists on the worker");
    if (active > 0) this.#recording.mark("mirror counts the pod as active");
    if ((uncounted?.succeeded ?? []).length > 0) this.#recording.mark("mirror notes the ended pod");
    if (isComplete(job)) this.#recording.mark("mirror is Complete");
  }

  pod(pod: Pod): void {
    if (pod.metadata.labels?.[JOB_NAME_LABEL] !== this.#name) return;
    this.#recording.mark("pod exists");
    if (pod.spec.nodeName !== undefined) this.#recording.mark("pod bound to a node");
    if (pod.status?.phase === "Succeeded") this.#recording.mark("pod has ended");
    if (pod.metadata.finalizers?.includes(TRACKING_FINALIZER) !== true) this.#recording.mark("pod's finalizer removed");
  }

  /** A message is stored as a hash, and whoever takes it counts the try in its field `ats`. One Job runs at a time. */
  redisDid(wallMs: number, [command = "", key = "", ...args]: string[]): void {
    const box = /:(deliveries|reports):/.exec(key)?.[1];
    const verb = command.toLowerCase();
    const isStored = verb === "hmset" || verb === "hset";
    const isTaken = verb === "hincrby" && args[0] === "ats";
    const now = wallMs - performance.timeOrigin;
    if (box === "reports" && isStored) this.#recording.reportStored(key, now);
    if (box === "reports" && isTaken) this.#recording.reportTaken(key, now);
    if (box === "deliveries" && isStored && asksToRun(args)) {
      this.#deliveries.add(key);
      this.#recording.mark("delivery in Redis", now);
    }
    if (box === "deliveries" && isTaken && this.#deliveries.delete(key))
      this.#recording.mark("the agent has taken it", now);
  }
}

/** Only deliveries that ask to run a Job have a priority; inventories and withdrawals go first, without one. */
const asksToRun = (args: readonly string[]): boolean => args.some((arg) => arg.includes('"priority":'));
