import { createHash } from "node:crypto";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { events, type KubeEvent, pods } from "@jobferry/shared/kube/resources.ts";
import { type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { AssignmentRef, DeletePod } from "@jobferry/shared/protocol/delivery.ts";
import { pagesOf, RoundNames } from "@jobferry/shared/protocol/inventory.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, randomId } from "@jobferry/shared/runtime/random.ts";
import { type Identity, identityOf, type Mirrors, shownPodsOf } from "../mirrors.ts";
import { looksAlike, podsReport } from "./pod-report.ts";
import { OF_JOBS, shownPods, trimShown } from "./shown-pods.ts";

export interface PodReporterOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  mirrors: Mirrors;
  transport: Pick<AgentTransport, "sendReport">;
  inventoryMs: number;
}

/** A pod that comes, goes or changes its phase is what people and programs wait for. What it goes through in this time is one report. */
const SETTLE_MS = 20;
/** With many mirrors that have news, each waits longer: nobody could follow them all, and each report is a write on the hub. */
const EACH_MS = 10;
const MAX_SETTLE_MS = 5_000;

/**
 * All else that is told of a pod waits for more of it: its node, its conditions, its containers while they start, its events. A
 * kubelet writes the status of a pod five or six times, and each time would be a write on the hub.
 */
const LATER_MS = 2_000;

const BY_OWNER = "owner";
const BY_POD = "pod";

/** The last report of a mirror's pods. */
interface Sent {
  readonly epoch: Epoch;
  readonly digest: string;
  readonly seq: number;
}

/**
 * Tells the manager of the pods of those mirrors whose pods it shows on the hub. Each report is the whole truth about one mirror's
 * pods; what gets lost is asked for, because the manager is told regularly what was sent. Without such mirrors no pod is watched.
 */
export class PodReporter {
  readonly #options: PodReporterOptions;
  readonly #pods: Reflector<Pod>;
  /** Of all pods of the cluster: the API server cannot choose them by owner. */
  readonly #events: Reflector<KubeEvent>;
  readonly #queue: WorkQueue;
  readonly #sent = new Map<HubUid, Sent>();
  /** Since when a mirror's pods have news. */
  readonly #news = new Map<HubUid, number>();
  readonly #rounds: RoundNames;
  #watching: Promise<void> | undefined;
  #signal: AbortSignal | undefined;

  constructor(options: PodReporterOptions) {
    this.#options = options;
    const { api, clock, random, logger, mirrors } = options;
    this.#rounds = new RoundNames(randomId(random));
    this.#pods = new Reflector({
      ...{ api, clock, random, logger, resource: shownPods, labelSelector: OF_JOBS, transform: trimShown },
      indexers: { [BY_OWNER]: (pod) => [ownerOf(pod)?.uid ?? []].flat() },
    });
    this.#pods.addHandler({
      added: (pod) => this.#podChanged(pod),
      updated: (before, pod) => this.#podChanged(pod, before),
      deleted: (pod) => this.#podChanged(pod),
    });
    this.#events = new Reflector({
      ...{
        api,
        clock,
        random,
        logger,
        resource: events,
        fieldSelector: "involvedObject.kind=Pod",
        transform: trimEvent,
      },
      indexers: { [BY_POD]: ({ involvedObject: { uid } }) => [uid ?? []].flat() },
    });
    this.#events.addHandler({
      added: (event) => this.#eventCame(event),
      updated: (_, event) => this.#eventCame(event),
    });
    this.#queue = new WorkQueue({
      ...{ name: "pod-reports", clock, logger, concurrency: 8, backoff: { baseMs: 200, maxMs: 10_000 } },
      process: (uid) => this.#report(uid as HubUid),
    });
    mirrors.reflector.addHandler({
      added: (mirror) => this.#mirrorChanged(mirror),
      updated: (before, mirror) => {
        if (isFinished(mirror) && !isFinished(before)) this.#mirrorEnded(mirror);
        else if (shownPodsOf(before) !== shownPodsOf(mirror)) this.#mirrorChanged(mirror);
      },
      deleted: (mirror) => this.#mirrorChanged(mirror),
    });
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#queue.start();
    for (const { mirror } of this.#options.mirrors.all()) this.#mirrorChanged(mirror);
    while (!signal.aborted) {
      await sleep(this.#options.clock, this.#options.inventoryMs, signal).catch(() => {});
      if (!signal.aborted) await this.#sendInventory();
    }
    await this.#queue.stop();
    await this.#watching;
  }

  /** The manager lacks what we have told of these mirrors. */
  wanted(mirrors: readonly AssignmentRef[]): void {
    for (const { uid } of mirrors) {
      this.#sent.delete(uid);
      this.#queue.add(uid);
    }
  }

  /** Somebody deleted the pod on the hub. */
  async delete({ uid, epoch, pod, gracePeriodSeconds }: DeletePod): Promise<void> {
    const mirror = this.#mirror(uid);
    const found = mirror && this.#of(mirror).find(({ metadata }) => metadata.uid === pod.uid);
    if (mirror === undefined || identityOf(mirror)?.epoch !== epoch || found?.metadata.name !== pod.name) return;
    const key = { namespace: mirror.metadata.namespace ?? "", name: pod.name };
    try {
      await this.#options.api.delete(pods, key, { gracePeriodSeconds, preconditions: { uid: pod.uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #mirrorChanged(mirror: Job): void {
    const identity = identityOf(mirror);
    if (identity === undefined || (shownPodsOf(mirror) === 0 && !this.#sent.has(identity.uid))) return;
    this.#watch();
    this.#note(identity.uid);
  }

  /** The manager shows the end of the Job after that of its pods: it does not wait for more news of them. */
  #mirrorEnded(mirror: Job): void {
    const identity = identityOf(mirror);
    if (identity === undefined || shownPodsOf(mirror) === 0) return;
    this.#news.set(identity.uid, Number.NEGATIVE_INFINITY);
    this.#queue.add(identity.uid);
  }

  #podChanged(pod: Pod, before?: Pod): void {
    const identity = this.#wantedMirrorOf(pod);
    if (identity === undefined) return;
    if (before !== undefined && looksAlike(before, pod)) this.#queue.addAfter(identity.uid, LATER_MS);
    else this.#note(identity.uid);
  }

  /** The mirror whose pod this is, if its pods are shown. */
  #wantedMirrorOf(pod: Pod | undefined): Identity | undefined {
    const owner = pod && ownerOf(pod);
    const mirror = owner && this.#options.mirrors.reflector.get(pod.metadata.namespace, owner.name);
    if (mirror === undefined || mirror.metadata.uid !== owner?.uid || shownPodsOf(mirror) === 0) return undefined;
    return identityOf(mirror);
  }

  #eventCame({ metadata: { namespace }, involvedObject: { name, uid } }: KubeEvent): void {
    const pod = this.#pods.get(namespace, name ?? "");
    const identity = pod?.metadata.uid === uid ? this.#wantedMirrorOf(pod) : undefined;
    if (identity !== undefined) this.#queue.addAfter(identity.uid, LATER_MS);
  }

  #note(uid: HubUid): void {
    if (!this.#news.has(uid)) this.#news.set(uid, this.#options.clock.monotonic());
    this.#queue.addAfter(uid, this.#waitMs(uid));
  }

  #waitMs(uid: HubUid): number {
    const since = this.#news.get(uid);
    if (since === undefined) return 0;
    const settleMs = Math.min(MAX_SETTLE_MS, Math.max(SETTLE_MS, EACH_MS * this.#news.size));
    return Math.max(0, since + settleMs - this.#options.clock.monotonic());
  }

  #watch(): void {
    if (this.#signal === undefined || this.#watching !== undefined) return;
    this.#watching = Promise.all([this.#pods.start(this.#signal), this.#events.start(this.#signal)]).then(() => {});
    this.#pods
      .whenSynced()
      .then(() => {
        for (const uid of this.#news.keys()) this.#queue.add(uid);
      })
      .catch(() => {});
  }

  async #report(uid: HubUid): Promise<ProcessResult> {
    // What is not listed yet cannot be told from what is gone; the first complete list comes back to this.
    if (this.#watching !== undefined && !this.#pods.hasSynced) return;
    const waitMs = this.#waitMs(uid);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    this.#news.delete(uid);
    const mirror = this.#mirror(uid);
    const most = mirror === undefined ? 0 : shownPodsOf(mirror);
    if (mirror === undefined || most === 0) return this.#tellGone(uid);
    const epoch = identityOf(mirror)?.epoch;
    if (epoch === undefined) return;
    const report = podsReport(this.#of(mirror), most, ({ metadata }) =>
      this.#events.byIndex(BY_POD, metadata.uid ?? ""),
    );
    const digest = createHash("sha256").update(JSON.stringify(report)).digest("base64");
    const before = this.#sent.get(uid);
    if (before?.epoch === epoch && before.digest === digest) return;
    if (before === undefined && report.pods.length === 0) return;
    const seq = this.#nextSeq(before);
    await this.#send({ kind: "pods", uid, epoch, seq, ...report });
    this.#sent.set(uid, { epoch, digest, seq });
  }

  async #tellGone(uid: HubUid): Promise<void> {
    const before = this.#sent.get(uid);
    if (before === undefined) return;
    const { epoch } = before;
    const seq = this.#nextSeq(before);
    await this.#send({ kind: "pods", uid, epoch, seq, pods: [], more: false, gone: true });
    this.#sent.delete(uid);
  }

  /** News that could not be sent are news still: they count for how long others wait. */
  async #send(report: Extract<Report, { kind: "pods" }>): Promise<void> {
    try {
      await this.#options.transport.sendReport(report);
    } catch (error) {
      this.#news.set(report.uid, this.#options.clock.monotonic());
      throw error;
    }
  }

  #nextSeq(before: Sent | undefined): number {
    return Math.max(Number(this.#pods.resourceVersion) || 1, (before?.seq ?? 0) + 1);
  }

  #mirror(uid: HubUid): Job | undefined {
    return this.#options.mirrors.of(uid).at(-1);
  }

  #of(mirror: Job): Pod[] {
    return this.#pods.byIndex(BY_OWNER, mirror.metadata.uid ?? "");
  }

  async #sendInventory(): Promise<void> {
    const { transport, logger } = this.#options;
    if (this.#watching === undefined) return;
    const listed = Array.from(this.#sent, ([uid, { epoch, seq }]) => ({ uid, epoch, seq }));
    const pages = pagesOf(listed);
    const round = this.#rounds.next();
    try {
      for (const [index, mirrors] of pages.entries())
        await transport.sendReport({ kind: "pods-inventory", round, page: index + 1, pages: pages.length, mirrors });
    } catch (error) {
      logger.debug({ error }, "inventory of pods not sent");
    }
  }
}

const ownerOf = ({ metadata }: Pod) =>
  metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === "Job");

/** What is told of an event, and what finds it. */
function trimEvent({
  metadata: { namespace, name, uid, resourceVersion, creationTimestamp },
  ...event
}: KubeEvent): KubeEvent {
  const { type, reason, message, count, firstTimestamp, lastTimestamp, eventTime, series, involvedObject } = event;
  return {
    metadata: { namespace, name, uid, resourceVersion, creationTimestamp },
    ...{ type, reason, message, count, firstTimestamp, lastTimestamp, eventTime, series },
    involvedObject: { kind: involvedObject.kind, name: involvedObject.name, uid: involvedObject.uid },
  } as KubeEvent;
}
