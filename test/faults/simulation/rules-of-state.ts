/** Rules that hold at every stored state, whatever the weather. */
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { type Book, type HubJob, indexesOf, isOver, isRunning, type Mirror, type PodLife } from "./book.ts";
import type { Violations } from "./violations.ts";
import type { World } from "./world.ts";

/** A pod may be on its way when the hub learns that the Job is over. */
const ON_ITS_WAY_MS = 5_000;
/** An agent that was heard again is told within one inventory. */
const TOLD_MS = 35_000;
/** An agent that was started hears the manager, or goes on alone after this long. */
const ALONE_MS = 30_000;
/** An agent that starts waits ten seconds for a word, and then a pod has its grace period. */
const STOPPED_MS = 45_000;
/** What a process had decided on when it was stopped, it does when it goes on. */
const THAWED_MS = 5_000;
/** A cluster counts as heard for this long after its last word. */
const SILENT_MS = 20_000;

export class RulesOfState {
  readonly #world: World;
  readonly #book: Book;
  readonly #violations: Violations;
  /** Elastic Jobs with fewer indexes than they had: `succeeded` may fall (IX-11). */
  readonly #shrunk = new Set<string>();

  constructor(world: World, book: Book, violations: Violations) {
    this.#world = world;
    this.#book = book;
    this.#violations = violations;
    book.listen({
      hubJob: (now, before) => this.#hubJob(now, before),
      mirror: (now) => this.#mirror(now),
      pod: (now, before) => this.#pod(now, before),
    });
  }

  get #elapsed(): number {
    return this.#world.scheduler.elapsed;
  }

  #hubJob(now: HubJob, before: Job | undefined): void {
    if (now.gone) {
      this.#hubJobGone(now);
      return;
    }
    this.#counted(now);
    if (before === undefined) return;
    const { job, name } = now;
    if ((job.spec.completions ?? 0) < (before.spec.completions ?? 0)) this.#shrunk.add(now.uid);
    for (const counter of ["succeeded", "failed"] as const) {
      const [was = 0, is = 0] = [before.status?.[counter], job.status?.[counter]];
      if (is < was && !(counter === "succeeded" && this.#shrunk.has(now.uid)))
        this.#violations.add("counters never fall", name, `${counter} fell from ${was} to ${is}`);
    }
    if (isOver(before) && JSON.stringify(before.status) !== JSON.stringify(job.status))
      this.#violations.add("terminal never changes", name, "a finished status was changed");
    const [was, is] = [before, job].map(({ metadata }) => Number(metadata.annotations?.["jobferry.dev/epoch"] ?? 0));
    if ((is ?? 0) < (was ?? 0)) this.#violations.add("epochs only grow", name, `epoch fell from ${was} to ${is}`);
    const clusters = [before, job].map(({ metadata }) => metadata.annotations?.["jobferry.dev/cluster"]);
    if (is === was && clusters.every((cluster) => cluster !== undefined) && clusters[0] !== clusters[1])
      this.#violations.add("epochs only grow", name, `two clusters in epoch ${is}`);
  }

  /** The hub counts no pod that did not end so, and none twice. */
  #counted({ uid, name, job }: HubJob): void {
    const pods = [...this.#book.podsOf(uid)];
    const succeeded = pods.filter(({ pod }) => pod.status?.phase === "Succeeded");
    if (job.spec.completionMode === "Indexed") {
      const earned = new Set(succeeded.map(({ index }) => index));
      const invented = indexesOf(job.status?.completedIndexes).filter((index) => !earned.has(index));
      if (invented.length > 0) this.#violations.add("counted once", name, `indexes ${invented} without a pod`);
      return;
    }
    const counted = (job.status?.succeeded ?? 0) + (job.status?.uncountedTerminatedPods?.succeeded?.length ?? 0);
    if (counted > succeeded.length)
      this.#violations.add("counted once", name, `${counted} counted, ${succeeded.length} pods succeeded`);
    // One that is being deleted counts as failed from then on.
    const ended = pods.filter(
      ({ pod, gone }) =>
        pod.status?.phase !== "Succeeded" &&
        (gone || pod.status?.phase === "Failed" || pod.metadata.deletionTimestamp !== undefined),
    );
    if ((job.status?.failed ?? 0) > ended.length)
      this.#violations.add("counted once", name, `${job.status?.failed} failed, ${ended.length} pods did`);
  }

  /** Once the hub lets a deleted Job go, nothing of it runs where we can know. */
  #hubJobGone({ uid, name, job, assignment }: HubJob): void {
    if (assignment === undefined || isOver(job)) return;
    if (this.#world.weather.calmMs(assignment.cluster) < SILENT_MS) return;
    // Somebody else took the mirror from under its pods.
    if ([...this.#book.mirrors.values()].some(({ hubUid, byHand }) => hubUid === uid && byHand)) return;
    const running = [...this.#book.podsOf(uid)].filter(
      (life) => isRunning(life) && life.cluster === assignment.cluster,
    );
    if (running.length > 0)
      this.#violations.add("deleted means gone", name, `${running.length} pods run on ${assignment.cluster}`);
  }

  /** What a mirror achieved is on the hub before the mirror goes. */
  #mirror({ gone, byHand, hubUid, cluster, epoch, job }: Mirror): void {
    if (!gone || byHand) return;
    const hub = this.#book.hubJobs.get(hubUid);
    if (hub === undefined || hub.gone || hub.deletingSince !== undefined || hub.finishedAt !== undefined) return;
    // Of an epoch that is over because contact was lost nobody waits for a word.
    const newest = hub.assignment ?? hub.left.at(-1)?.from;
    if (newest === undefined || newest.epoch !== epoch || newest.cluster !== cluster) return;
    if (hub.assignment === undefined && hub.left.at(-1)?.inContact !== true) return;
    const stored = new Set(indexesOf(hub.job.status?.completedIndexes));
    const lost = indexesOf(job.status?.completedIndexes).filter((index) => !stored.has(index));
    const [here, there] = [job.status?.succeeded ?? 0, hub.job.status?.succeeded ?? 0];
    if (lost.length > 0 || here > there)
      this.#violations.add("last words are stored", hub.name, `${cluster} had ${here} (${lost}), the hub has ${there}`);
  }

  #pod(life: PodLife, before: Pod | undefined): void {
    if (before === undefined) {
      this.#created(life);
      this.#doubled(life);
    }
    if (isRunning(life) && before?.status?.phase !== "Running") this.#alone(life);
  }

  #created({ hubUid, cluster, index, pod }: PodLife): void {
    const hub = this.#book.hubJobs.get(hubUid);
    if (hub === undefined || !this.#knowsBetter(cluster, hub.finishedAt)) return;
    const { name } = pod.metadata;
    if (hub.finishedAt !== undefined && hub.finishedAt + ON_ITS_WAY_MS < this.#elapsed)
      this.#violations.add("finished stays finished", hub.name, `pod ${name} on ${cluster}`);
    const completedAt = index === undefined ? undefined : hub.completed.get(index);
    if (completedAt !== undefined && completedAt + ON_ITS_WAY_MS < this.#elapsed && hub.assignment?.cluster === cluster)
      this.#violations.add("completed indexes stay completed", hub.name, `index ${index} again on ${cluster}`);
  }

  /** No mirror has two pods of one index that both are to run. */
  #doubled({ hubUid, index, pod, uid }: PodLife): void {
    if (index === undefined) return;
    const owner = ownerOf(pod);
    const twins = [...this.#book.podsOf(hubUid)].filter(
      (other) => other.uid !== uid && other.index === index && ownerOf(other.pod) === owner && isToRun(other),
    );
    if (twins.length > 0)
      this.#violations.add("one pod for each index", pod.metadata.name ?? "", `${twins[0]?.pod.metadata.name} runs`);
  }

  /** Whether this cluster's agent must have heard by now of what happened on the hub then. */
  #knowsBetter(cluster: string, happenedAt: number | undefined): boolean {
    const { weather, agents } = this.#world;
    if (weather.calmMs(cluster) > TOLD_MS) return true;
    const party = agents.get(cluster)?.party;
    if (party === undefined || happenedAt === undefined) return false;
    // It was started later: it waits for the manager's word before it adds anything.
    return party.startedAt > happenedAt && this.#elapsed < party.startedAt + ALONE_MS;
  }

  /** Another cluster runs pods of the same Job only where its policy allows that. */
  #alone(life: PodLife): void {
    const hub = this.#book.hubJobs.get(life.hubUid);
    if (hub === undefined) return;
    for (const other of this.#book.podsOf(life.hubUid)) {
      if (!isRunning(other) || other.cluster === life.cluster) continue;
      if (this.#mayRun(hub, life.cluster) && (this.#mayRun(hub, other.cluster) || this.#isStopping(other))) continue;
      const what = `pods on ${other.cluster} and ${life.cluster}, policy ${hub.left.at(-1)?.policy}`;
      this.#violations.add("one cluster at a time", hub.name, what);
    }
  }

  /** Its agent was dead when the Job moved, and has been back only for as long as it takes to stop what it finds. */
  #isStopping({ cluster, createdAt }: PodLife): boolean {
    const startedAt = this.#world.agents.get(cluster)?.party?.startedAt ?? 0;
    return createdAt < startedAt && this.#elapsed - startedAt < STOPPED_MS;
  }

  /** The Job's own cluster, or one that cannot be blamed for going on. */
  #mayRun(hub: HubJob, cluster: string): boolean {
    if (hub.assignment?.cluster === cluster) return true;
    const left = hub.left.findLast(({ from }) => from.cluster === cluster);
    if (left === undefined) return false;
    if (left.policy === "Redispatch" && !left.inContact) return true;
    const running = this.#world.agents.get(cluster)?.runningSince;
    if (running === undefined || this.#elapsed - running < THAWED_MS) return true;
    // ADR 8: an agent or API server that is dead stops no pod.
    const { weather } = this.#world;
    const lostFor = this.#elapsed - left.at + 1000 * this.#world.options.lostAfterSeconds + SILENT_MS;
    return (
      weather.processCalmMs(cluster) < lostFor &&
      weather.calmMs(cluster) < TOLD_MS &&
      !this.#startedSince(cluster, left.at)
    );
  }

  #startedSince(cluster: string, at: number): boolean {
    return (this.#world.agents.get(cluster)?.party?.startedAt ?? 0) > at;
  }
}

const ownerOf = (pod: Pod): string | undefined => pod.metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.uid;

const isToRun = ({ gone, pod }: PodLife): boolean =>
  !gone &&
  pod.metadata.deletionTimestamp === undefined &&
  pod.status?.phase !== "Succeeded" &&
  pod.status?.phase !== "Failed";
