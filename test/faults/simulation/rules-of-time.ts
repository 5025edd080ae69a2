/** Rules that give the fleet some calm time first. Looked at once a second. */
import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import { type Book, type HubJob, isOver } from "./book.ts";
import type { Violations } from "./violations.ts";
import type { World } from "./world.ts";

const KNOWN_MS = 120_000;
const SHOWN_MS = 45_000;
const PLACED_MS = 60_000;
const COUNTED_MS = 75_000;
const DELETED_MS = 150_000;
/** An agent that says that the cause of a refusal is mended, and refuses again, is believed after such a pause at most. */
const REFUSED_MS = 30_000;
/** Redis is asked every five seconds, may miss an answer, and silence is counted every five. */
const UNNOTICED_MS = 20_000;

export class RulesOfTime {
  readonly #world: World;
  readonly #book: Book;
  readonly #violations: Violations;
  readonly #clusters = new Map<string, WorkerCluster>();
  /** How many Jobs each cluster holds, and since when that has been so. */
  readonly #held = new Map<string, { count: number; since: number }>();
  /** When something last stood in the way of a Job on a cluster. */
  readonly #obstacles = new Map<string, number>();
  readonly #drainedAt = new Map<string, number>();
  readonly #writtenAt = new Map<string, number>();

  constructor(world: World, book: Book, violations: Violations) {
    this.#world = world;
    this.#book = book;
    this.#violations = violations;
    world.hub.cluster.onChange(({ object }, previous) => {
      if (object.kind !== "WorkerCluster") return;
      const cluster = object as unknown as WorkerCluster;
      const name = object.metadata.name;
      this.#silence(name, previous as unknown as WorkerCluster | undefined, cluster);
      if (cluster.spec.drain === true || cluster.spec.cordoned === true)
        this.#drainedAt.set(name, Number.POSITIVE_INFINITY);
      else if (this.#drainedAt.get(name) === Number.POSITIVE_INFINITY)
        this.#drainedAt.set(name, world.scheduler.elapsed);
      this.#clusters.set(name, cluster);
    });
  }

  /** A shard of Redis that is away says nothing about the clusters whose queues are on it. */
  #silence(name: string, before: WorkerCluster | undefined, { status }: WorkerCluster): void {
    // Somebody edited its spec: the count is that of the last status.
    if (before !== undefined && before.status === status) return;
    const { scheduler, weather } = this.#world;
    const [was = 0, is = 0] = [before?.status?.silentSeconds, status?.silentSeconds];
    const countedMs = 1_000 * (is - was);
    const readableMs = weather.readableMs(name, scheduler.elapsed - (this.#writtenAt.get(name) ?? 0));
    this.#writtenAt.set(name, scheduler.elapsed);
    if (countedMs > readableMs + UNNOTICED_MS)
      this.#violations.add(
        "silence is counted where Redis answers",
        name,
        `${countedMs} ms, readable ${readableMs} ms`,
      );
  }

  /** A local Job of this name is in the way on this cluster, or no longer. */
  obstructed(cluster: string, name: string, still: boolean): void {
    this.#obstacles.set(`${cluster}/${name}`, still ? Number.POSITIVE_INFINITY : this.#world.scheduler.elapsed);
  }

  look(): void {
    const counts = new Map<string, number>();
    for (const hub of this.#book.hubJobs.values()) {
      if (hub.gone) continue;
      this.#deletion(hub);
      if (hub.finishedAt !== undefined) continue;
      if (hub.assignment !== undefined) {
        counts.set(hub.assignment.cluster, (counts.get(hub.assignment.cluster) ?? 0) + 1);
        this.#known(hub, hub.assignment);
      } else this.#placed(hub);
    }
    for (const name of this.#world.workers.keys()) this.#counted(name, counts.get(name) ?? 0);
  }

  /** An assigned Job on a connected cluster has a mirror or an answer, and the hub shows what the mirror shows. */
  #known(hub: HubJob, { cluster, epoch }: { cluster: string; epoch: number }): void {
    const { scheduler, weather } = this.#world;
    if (hub.deletingSince !== undefined) return;
    const calmMs = Math.min(weather.calmMs(cluster), scheduler.elapsed - hub.since);
    if (calmMs < SHOWN_MS) return;
    const mirror = [...this.#book.mirrorsOf(hub.uid)].find((each) => each.cluster === cluster && each.epoch === epoch);
    if (mirror === undefined) {
      const gone = [...this.#book.mirrors.values()].filter((each) => each.hubUid === hub.uid && each.gone);
      const sinceMs = Math.min(calmMs, ...gone.map(({ changedAt }) => scheduler.elapsed - changedAt));
      if (sinceMs > KNOWN_MS)
        this.#violations.add("assigned means known", hub.name, `nothing on ${cluster} for epoch ${epoch}`);
      return;
    }
    if (scheduler.elapsed - Math.max(mirror.changedAt, hub.changedAt) < SHOWN_MS) return;
    const [shown, is] = [hub.job.status, mirror.job.status].map((status = {}) =>
      JSON.stringify([status.succeeded ?? 0, status.failed ?? 0, status.completedIndexes ?? "", status.active ?? 0]),
    );
    if (shown !== is)
      this.#violations.add("hub shows the worker's truth", hub.name, `hub ${shown}, mirror on ${cluster} ${is}`);
  }

  /** A waiting Job for which a cluster has room is placed. */
  #placed(hub: HubJob): void {
    const { scheduler, weather } = this.#world;
    if (hub.job.spec.suspend === true || hub.deletingSince !== undefined) return;
    // Whether there is room for one that asks for some is placement's to know.
    if (hub.job.spec.template.spec.containers.some(({ resources }) => resources?.requests !== undefined)) return;
    const waitedMs = Math.min(scheduler.elapsed - hub.since, scheduler.elapsed - hub.changedAt);
    if (waitedMs < PLACED_MS) return;
    const selector = hub.job.metadata.annotations?.["jobferry.dev/cluster-selector"];
    for (const name of this.#world.workers.keys()) {
      if (selector !== undefined && selector !== `name=${name}`) continue;
      const freeSince = Math.max(
        this.#drainedAt.get(name) ?? 0,
        this.#obstacles.get(`${name}/${hub.name}`) ?? 0,
        ...hub.left.filter(({ from, refused }) => refused && from.cluster === name).map(({ at }) => at + REFUSED_MS),
      );
      if (Math.min(weather.calmMs(name), scheduler.elapsed - freeSince) < PLACED_MS) continue;
      this.#violations.add("waiting Jobs that fit are placed", hub.name, `${name} has had room for ${PLACED_MS} ms`);
      return;
    }
  }

  #deletion(hub: HubJob): void {
    if (hub.deletingSince === undefined || isOver(hub.job)) return;
    const { scheduler, weather } = this.#world;
    const waitedMs = Math.min(scheduler.elapsed - hub.deletingSince, weather.calmMs());
    if (waitedMs > DELETED_MS)
      this.#violations.add(
        "deletion ends",
        hub.name,
        `deleted ${waitedMs} ms ago, assigned to ${hub.assignment?.cluster}`,
      );
  }

  #counted(cluster: string, count: number): void {
    const { scheduler, weather } = this.#world;
    const held = this.#held.get(cluster);
    if (held?.count !== count) {
      this.#held.set(cluster, { count, since: scheduler.elapsed });
      return;
    }
    if (Math.min(scheduler.elapsed - held.since, weather.calmMs(cluster)) < COUNTED_MS) return;
    const shown = this.#clusters.get(cluster)?.status?.runningJobs ?? 0;
    if (shown !== count) this.#violations.add("runningJobs is right", cluster, `shows ${shown}, holds ${count}`);
  }
}
