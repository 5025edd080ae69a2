import { isConditionTrue, isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { type MeasureQueue, type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { AssignmentRef, ListedAssignment } from "@jobferry/shared/protocol/delivery.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import { type Identity, identityOf, isSeeded, type Mirrors, seqOf, shownPodsOf, statusOf } from "../mirrors.ts";
import { News } from "./news.ts";

export interface ReporterOptions {
  transport: AgentTransport;
  mirrors: Mirrors;
  clock: Clock;
  logger: Logger;
  queueMetrics?: MeasureQueue | undefined;
}

/** What a mirror that is gone had achieved. */
interface LastWords {
  readonly identity: Identity;
  readonly seq: number;
  readonly status: JobStatus;
  /** The hub has them, or does not want them any more. */
  isStored: boolean;
}

const REMEMBERED = 4_096;

/** Tells the manager the status of every mirror, whenever it changes and nothing newer is about to. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #queue: WorkQueue;
  /** What was last sent, by hub UID: the mirror's UID and its status as JSON, and its number. */
  readonly #sent = new Map<HubUid, { version: string; seq: number }>();
  readonly #news: News;
  /** Of mirrors that are gone unfinished: they are created again from them. */
  readonly #lastWords = new LruMap<HubUid, LastWords>(REMEMBERED);

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#news = new News(options.clock);
    this.#queue = new WorkQueue({
      name: "reports",
      metrics: options.queueMetrics,
      clock: options.clock,
      logger: options.logger,
      concurrency: 16,
      backoff: { baseMs: 200, maxMs: 10_000 },
      process: (uid) => this.#send(uid as HubUid),
    });
    options.mirrors.reflector.addHandler({
      added: (mirror) => this.#changed(mirror, false),
      updated: (before, mirror) => {
        if (isFinished(mirror) && !isFinished(before)) this.#ended(mirror);
        this.#changed(mirror, isSuspended(mirror) !== isSuspended(before));
      },
      deleted: (mirror) => this.#gone(mirror),
    });
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** The manager may have missed anything. */
  repeatAll(): void {
    this.#sent.clear();
    for (const { identity } of this.#options.mirrors.all()) this.#queue.add(identity.uid);
    for (const { identity, isStored } of this.#lastWords.values()) if (!isStored) this.#queue.add(identity.uid);
  }

  /** What was sent and is not stored on the hub by now may be lost, and is sent again. */
  compare(asOf: number, assignments: readonly ListedAssignment[]): void {
    const stored = new Map<HubUid, ListedAssignment>();
    for (const listed of assignments) {
      const { uid, seq } = listed;
      if (this.#lastWords.peek(uid)?.isStored === false) stored.set(uid, listed);
      if ((this.#sent.get(uid)?.seq ?? 0) <= seq) continue;
      this.#sent.delete(uid);
      this.#queue.add(uid);
    }
    for (const words of this.#lastWords.values()) {
      const { identity, seq, isStored } = words;
      if (isStored || identity.revision > asOf) continue;
      const listed = stored.get(identity.uid);
      words.isStored = listed === undefined || listed.epoch !== identity.epoch || listed.seq >= seq;
      if (!words.isStored) this.#queue.add(identity.uid);
    }
  }

  /** What the mirror of this assignment had achieved when it was last seen, if it is gone. */
  lastWords({ uid, epoch }: AssignmentRef): { seq: number; status: JobStatus } | undefined {
    const words = this.#lastWords.get(uid);
    return words?.identity.epoch === epoch ? { seq: words.seq, status: words.status } : undefined;
  }

  async now(mirror: Job): Promise<void> {
    await this.#report(mirror);
  }

  #changed(mirror: Job, awaited: boolean): void {
    const identity = identityOf(mirror);
    if (identity === undefined || !isSeeded(mirror)) return;
    const { uid } = identity;
    this.#lastWords.delete(uid);
    if (mirror.status === undefined || Object.keys(mirror.status).length === 0) return;
    if (isFinished(mirror)) {
      this.#news.told(uid);
      this.#queue.add(uid);
    } else {
      this.#news.come(uid, { known: this.#sent.has(uid), awaited, shown: shownPodsOf(mirror) > 0 });
      this.#queue.addAfter(uid, this.#news.waitMs(uid));
    }
  }

  #ended(mirror: Job): void {
    const identity = identityOf(mirror);
    if (identity !== undefined) this.#news.over(identity.uid);
  }

  #gone(mirror: Job): void {
    const identity = identityOf(mirror);
    if (identity === undefined) return;
    this.#news.told(identity.uid);
    if (isFinished(mirror) || !isSeeded(mirror)) {
      this.#sent.delete(identity.uid);
      return;
    }
    const status = withoutPods(statusOf(mirror));
    this.#lastWords.set(identity.uid, { identity, seq: seqOf(mirror), status, isStored: false });
    this.#sent.delete(identity.uid);
    this.#queue.add(identity.uid);
  }

  async #send(uid: HubUid): Promise<ProcessResult> {
    const waitMs = this.#news.waitMs(uid);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    this.#news.told(uid);
    for (const mirror of this.#options.mirrors.of(uid)) if (isSeeded(mirror)) await this.#report(mirror);
    const words = this.#lastWords.peek(uid);
    if (words === undefined || words.isStored || Object.keys(words.status).length === 0) return;
    const { identity, seq, status } = words;
    await this.#options.transport.sendReport({ kind: "status", uid, epoch: identity.epoch, seq, status });
  }

  async #report(mirror: Job): Promise<void> {
    const identity = identityOf(mirror);
    if (identity === undefined) return;
    const status = statusOf(mirror);
    if (Object.keys(status).length === 0) return;
    const version = `${mirror.metadata.uid}/${JSON.stringify(status)}`;
    if (this.#sent.get(identity.uid)?.version === version) return;
    const seq = seqOf(mirror);
    await this.#options.transport.sendReport({
      kind: "status",
      uid: identity.uid,
      epoch: identity.epoch,
      seq,
      status,
    });
    this.#sent.set(identity.uid, { version, seq });
  }
}

const isSuspended = ({ status }: Job): boolean => isConditionTrue(status?.conditions, "Suspended");

/** A mirror that is gone runs nothing; what it had counted stands. */
function withoutPods({ active: _, ...status }: JobStatus): JobStatus {
  return { ...status, ready: 0, terminating: 0 };
}
