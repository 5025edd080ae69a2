import { type Book, type HubJob, isRunning } from "./book.ts";
import type { World } from "./world.ts";

/**
 * How long Jobs need once nothing goes wrong any more: for each that was unfinished then, until it is in order. Looked at once a
 * second. A Job that never gets there is a rule's affair.
 */
export class Liveness {
  readonly #world: World;
  readonly #book: Book;
  #calmAt: number | undefined;
  readonly #waiting = new Map<string, HubJob>();
  readonly #inOrderAfterMs: number[] = [];

  constructor(world: World, book: Book) {
    this.#world = world;
    this.#book = book;
  }

  /** The last fault is over. */
  start(): void {
    this.#calmAt = this.#world.scheduler.elapsed;
    for (const hub of this.#book.hubJobs.values())
      if (!hub.gone && hub.finishedAt === undefined) this.#waiting.set(hub.uid, hub);
    this.look();
  }

  look(): void {
    for (const hub of this.#waiting.values()) {
      if (!this.#isInOrder(hub)) continue;
      this.#inOrderAfterMs.push(this.#world.scheduler.elapsed - (this.#calmAt ?? 0));
      this.#waiting.delete(hub.uid);
    }
  }

  inOrderAfterMs(): readonly number[] {
    return this.#inOrderAfterMs;
  }

  /** Over, or in line for room, or on its cluster as the hub wants it and shown as it is. */
  #isInOrder(hub: HubJob): boolean {
    if (hub.gone || hub.finishedAt !== undefined) return true;
    if (hub.deletingSince !== undefined) return false;
    const { assignment, job } = hub;
    const wantsPods = job.spec.suspend !== true;
    // Whether there is room for one that asks for some is placement's to know.
    if (assignment === undefined)
      return !wantsPods || job.spec.template.spec.containers.some(({ resources }) => resources?.requests !== undefined);
    const mirror = [...this.#book.mirrorsOf(hub.uid)].find(
      ({ cluster, epoch }) => cluster === assignment.cluster && epoch === assignment.epoch,
    );
    if (mirror === undefined || (mirror.job.spec.suspend !== true) !== wantsPods) return false;
    const elsewhere = [...this.#book.podsOf(hub.uid)].some(
      (life) => isRunning(life) && life.cluster !== assignment.cluster,
    );
    const [shown, is] = [job.status, mirror.job.status].map((status = {}) =>
      JSON.stringify([status.succeeded ?? 0, status.failed ?? 0, status.completedIndexes ?? "", status.active ?? 0]),
    );
    return !elsewhere && shown === is;
  }
}

/** Of all runs together. */
export function livenessLine(inOrderAfterMs: readonly number[]): string {
  const sorted = inOrderAfterMs.toSorted((one, other) => one - other);
  const rank = (part: number): string =>
    `${((sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0) / 1000).toFixed(1)} s`;
  return (
    `${sorted.length} Jobs were unfinished when the last fault was over; ` +
    `in order again after ${rank(0.5)} (p50), ${rank(0.99)} (p99), ${rank(1)} (max)`
  );
}
