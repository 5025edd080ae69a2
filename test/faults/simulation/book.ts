import type { ChangeListener } from "@jobferry/sandbox/store/store.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { World } from "./world.ts";

/** The words on stored objects, as a reader of the documentation knows them: the rules share no code with what they judge. */
const CLUSTER = "jobferry.dev/cluster";
const EPOCH = "jobferry.dev/epoch";
const UID_LABEL = "jobferry.dev/hub-uid";

interface Assignment {
  readonly cluster: string;
  readonly epoch: number;
}

/** A hub Job and what was seen of it so far. */
export interface HubJob {
  readonly uid: string;
  readonly name: string;
  job: Job;
  gone: boolean;
  assignment: Assignment | undefined;
  /** When it got its present assignment, or lost its last one. */
  since: number;
  finishedAt: number | undefined;
  deletingSince: number | undefined;
  /** Every `spec.completions` it had before it was finished. */
  readonly completions: Set<number>;
  /** When an index was first shown as completed. */
  readonly completed: Map<number, number>;
  /** When the Job as stored last changed. */
  changedAt: number;
  /** How it left each cluster. */
  readonly left: {
    readonly from: Assignment;
    readonly at: number;
    readonly policy: string;
    readonly inContact: boolean;
    readonly refused: boolean;
  }[];
}

export interface Mirror {
  readonly cluster: string;
  readonly uid: string;
  readonly hubUid: string;
  readonly epoch: number;
  job: Job;
  gone: boolean;
  /** Somebody else than our agent deleted it. */
  byHand: boolean;
  changedAt: number;
}

export interface PodLife {
  readonly cluster: string;
  readonly uid: string;
  readonly hubUid: string;
  readonly index: number | undefined;
  readonly createdAt: number;
  pod: Pod;
  gone: boolean;
}

export interface BookListener {
  hubJob?(now: HubJob, before: Job | undefined): void;
  mirror?(now: Mirror, before: Job | undefined): void;
  pod?(now: PodLife, before: Pod | undefined): void;
}

export const has = (job: Job, type: string): boolean =>
  job.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
export const isOver = (job: Job): boolean => has(job, "Complete") || has(job, "Failed");
export const isRunning = ({ gone, pod }: PodLife): boolean => !gone && pod.status?.phase === "Running";

/** Everything that is stored on all clusters at this instant, and since when. */
export class Book {
  readonly hubJobs = new Map<string, HubJob>();
  /** By their own UID. */
  readonly mirrors = new Map<string, Mirror>();
  readonly pods = new Map<string, PodLife>();
  readonly #podsOf = new Map<string, Set<PodLife>>();
  readonly #world: World;
  readonly #listeners: BookListener[] = [];
  /** `spec.onClusterLost` of the default queue. */
  #queuePolicy = "Redispatch";

  constructor(world: World) {
    this.#world = world;
    world.hub.cluster.onChange(this.#onHub);
    for (const [name, { cluster }] of world.workers) cluster.onChange(this.#onWorker(name));
  }

  listen(listener: BookListener): void {
    this.#listeners.push(listener);
  }

  podsOf(hubUid: string): Iterable<PodLife> {
    return this.#podsOf.get(hubUid) ?? [];
  }

  /** The cluster that a step means: its name, or "cluster of NAME" for the one that has that Job now; undefined when none has. */
  clusterOf(text: string): string | undefined {
    const [, had, name] = /^cluster (of|that lost) (.*)$/.exec(text) ?? [];
    if (name === undefined) return text;
    const hub = [...this.hubJobs.values()].findLast((each) => each.name === name && !each.gone);
    const last = hub?.left.at(-1)?.from.cluster;
    return had === "of" ? hub?.assignment?.cluster : (last ?? hub?.assignment?.cluster);
  }

  *mirrorsOf(hubUid: string): Generator<Mirror> {
    for (const mirror of this.mirrors.values()) if (mirror.hubUid === hubUid && !mirror.gone) yield mirror;
  }

  policyOf(job: Job): string {
    return job.metadata.annotations?.["jobferry.dev/on-cluster-lost"] ?? this.#queuePolicy;
  }

  /** The hub has forgotten what happened since its backup; what is stored now counts. */
  restored(): void {
    const stored = new Map(this.#stored().map((job) => [job.metadata.uid ?? "", job]));
    const { elapsed } = this.#world.scheduler;
    for (const entry of this.hubJobs.values()) {
      const job = stored.get(entry.uid);
      if (job === undefined) {
        entry.gone = true;
        continue;
      }
      const [at, deleting] = [isOver(job) ? elapsed : undefined, job.metadata.deletionTimestamp];
      Object.assign(entry, { job, gone: false, since: elapsed, changedAt: elapsed, finishedAt: at });
      entry.assignment = assignmentOf(job);
      entry.deletingSince = deleting === undefined ? undefined : elapsed;
      const completed = new Set(indexesOf(job.status?.completedIndexes));
      for (const index of entry.completed.keys()) if (!completed.has(index)) entry.completed.delete(index);
    }
  }

  readonly #onHub: ChangeListener = ({ object }, previous, deleted) => {
    if (object.kind === "JobQueue" && object.metadata.name === "default")
      this.#queuePolicy = (object.spec as { onClusterLost?: string } | undefined)?.onClusterLost ?? "Redispatch";
    if (object.kind !== "Job") return;
    const job = object as unknown as Job;
    const before = previous as unknown as Job | undefined;
    if (job.spec.managedBy !== "jobferry.dev/manager") return;
    const entry = this.#hubJob(job);
    const { elapsed } = this.#world.scheduler;
    entry.job = job;
    entry.gone = deleted;
    entry.changedAt = elapsed;
    if (entry.finishedAt === undefined) entry.completions.add(job.spec.completions ?? 1);
    if (isOver(job)) entry.finishedAt ??= elapsed;
    if (job.metadata.deletionTimestamp !== undefined) entry.deletingSince ??= elapsed;
    for (const index of indexesOf(job.status?.completedIndexes))
      if (!entry.completed.has(index)) entry.completed.set(index, elapsed);
    this.#assign(entry, before);
    for (const listener of this.#listeners) listener.hubJob?.(entry, before);
  };

  #assign(entry: HubJob, before: Job | undefined): void {
    const { scheduler, weather } = this.#world;
    const assignment = assignmentOf(entry.job);
    const last = entry.assignment;
    if (assignment?.cluster === last?.cluster && assignment?.epoch === last?.epoch) return;
    if (last !== undefined && before !== undefined) {
      const inContact = weather.calmMs(last.cluster) > 0;
      const message = entry.job.metadata.annotations?.["jobferry.dev/message"] ?? "";
      const refused = message.startsWith(`cluster ${last.cluster} refused`);
      entry.left.push({ from: last, at: scheduler.elapsed, policy: this.policyOf(before), inContact, refused });
    }
    entry.assignment = assignment;
    entry.since = scheduler.elapsed;
    const why = entry.job.metadata.annotations?.["jobferry.dev/message"] ?? "";
    const where =
      assignment === undefined ? `nobody: ${why.slice(0, 120)}` : `${assignment.cluster}, epoch ${assignment.epoch}`;
    scheduler.trace.say(`${entry.name} belongs to ${where}`);
  }

  #stored(): Job[] {
    return this.#world.hub.cluster.stored("Job") as unknown as Job[];
  }

  #hubJob(job: Job): HubJob {
    const { uid = "", name = "" } = job.metadata;
    const known = this.hubJobs.get(uid);
    if (known !== undefined) return known;
    const entry: HubJob = {
      uid,
      name,
      job,
      gone: false,
      assignment: undefined,
      since: this.#world.scheduler.elapsed,
      finishedAt: undefined,
      deletingSince: undefined,
      completions: new Set(),
      completed: new Map(),
      changedAt: 0,
      left: [],
    };
    this.hubJobs.set(uid, entry);
    return entry;
  }

  #onWorker(cluster: string): ChangeListener {
    return ({ object }, previous, deleted) => {
      if (object.kind === "Job") this.#onMirror(cluster, object as unknown as Job, previous as unknown as Job, deleted);
      if (object.kind === "Pod") this.#onPod(cluster, object as unknown as Pod, previous as unknown as Pod, deleted);
    };
  }

  #onMirror(cluster: string, job: Job, before: Job | undefined, gone: boolean): void {
    const hubUid = job.metadata.labels?.[UID_LABEL];
    const { uid = "" } = job.metadata;
    if (hubUid === undefined) return;
    const changedAt = this.#world.scheduler.elapsed;
    const epoch = Number(job.metadata.annotations?.[EPOCH]);
    const mirror = this.mirrors.get(uid) ?? { cluster, uid, hubUid, epoch, job, gone, byHand: false, changedAt };
    this.mirrors.set(uid, Object.assign(mirror, { job, gone, changedAt }));
    if (before === undefined || gone)
      this.#world.trace.say(
        `${cluster}: mirror of ${job.metadata.name}, epoch ${epoch}, ${gone ? "is gone" : "comes"}`,
      );
    for (const listener of this.#listeners) listener.mirror?.(mirror, before);
  }

  #onPod(cluster: string, pod: Pod, before: Pod | undefined, gone: boolean): void {
    const { uid = "", name } = pod.metadata;
    const owner = pod.metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.uid ?? "";
    const known = this.pods.get(uid);
    const hubUid = known?.hubUid ?? this.mirrors.get(owner)?.hubUid;
    if (hubUid === undefined) return;
    const createdAt = this.#world.scheduler.elapsed;
    const index = pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"];
    const life = known ?? {
      cluster,
      uid,
      hubUid,
      index: index === undefined ? undefined : Number(index),
      createdAt,
      pod,
      gone,
    };
    this.pods.set(uid, Object.assign(life, { pod, gone }));
    const pods = this.#podsOf.get(hubUid) ?? new Set();
    this.#podsOf.set(hubUid, pods.add(life));
    const phase = gone ? "gone" : pod.status?.phase;
    if (before === undefined || gone || before.status?.phase !== phase)
      this.#world.trace.say(`${cluster}: pod ${name} ${phase}`);
    for (const listener of this.#listeners) listener.pod?.(life, before);
  }
}

function assignmentOf({ metadata: { annotations = {} } }: Job): Assignment | undefined {
  const cluster = annotations[CLUSTER];
  return cluster === undefined ? undefined : { cluster, epoch: Number(annotations[EPOCH]) };
}

/** "0,3-5" */
export function indexesOf(text: string | undefined): number[] {
  if (text === undefined || text === "") return [];
  return text.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
