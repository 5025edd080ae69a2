import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import type { Clusters } from "../clusters/clusters.ts";
import type { JobNeeds } from "./fit/job-needs.ts";

/** A cluster that refuses a Job again and again is asked again after ever longer pauses, up to the longest. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Reasons that time alone does not heal: somebody has to change the worker or the Job. */
const STUBBORN: ReadonlySet<Rejection> = new Set([
  "NameTaken",
  "ManagedByUnsupported",
  "SchedulingUnsupported",
  "Invalid",
  "AdmissionDenied",
  "PodNotAccepted",
]);

/** The pods waited long to find that out, and so it is not tried again soon. */
const UNSCHEDULABLE_PAUSE_MS = 10 * 60_000;
const LONGEST_UNSCHEDULABLE_MS = 2 * 3_600_000;

/** Why a cluster is not asked again for a Job: it refused it, or found no node for its pods. */
export type Rejection = RefusalReason | "Unschedulable";

/** An agent that says that the cause is mended and refuses again is believed after ever longer pauses, up to the longest. */
const FIRST_MENDED_MS = 1_000;
const LONGEST_MENDED_MS = 30_000;

export interface Booking {
  readonly cluster: ClusterName;
  readonly queue: string;
  readonly needs: JobNeeds;
}

export interface Load {
  readonly jobs: number;
  readonly used: Amounts;
}

interface Refusal {
  readonly reason: Rejection;
  readonly since: number;
  readonly text: string;
  /** The submitter's last wish to be tried again, at that time. */
  readonly retry: string | undefined;
  readonly tries: number;
  readonly until: number;
}

/** Who holds what: for each Job where it is booked, in whose name, and which clusters refused it. */
export class Ledger {
  readonly #clusters: Clusters;
  readonly #bookings = new Map<HubUid, { booking: Booking; amounts: Amounts }>();
  readonly #onCluster = new Map<ClusterName, Set<HubUid>>();
  readonly #loads = new Map<string, { jobs: number; used: Map<string, number> }>();
  readonly #refusals = new Map<HubUid, Map<ClusterName, Refusal>>();
  #version = 0;

  constructor(clusters: Clusters) {
    this.#clusters = clusters;
  }

  /** The Job is, or is about to be, assigned. Booking it again replaces what was there. */
  book(uid: HubUid, booking: Booking): void {
    const before = this.#bookings.get(uid)?.booking;
    if (before !== undefined && isSame(before, booking)) return;
    this.#unbook(uid);
    const { perPod, pods } = booking.needs;
    const amounts = new Map([...perPod].map(([resource, amount]) => [resource, amount * pods]));
    this.#bookings.set(uid, { booking, amounts });
    const { cluster } = booking;
    this.#onCluster.set(cluster, (this.#onCluster.get(cluster) ?? new Set()).add(uid));
    this.#count(booking, amounts, 1);
  }

  /** Takes the room off the cluster's figures until its agent's own cover it. */
  reserve(uid: HubUid, { cluster, needs }: Booking): void {
    this.#clusters.get(cluster)?.capacity.reserve(uid, needs);
  }

  /** The Job is booked nowhere any more; returns where it was. Which clusters refused it is still known. */
  release(uid: HubUid): Booking | undefined {
    const booked = this.#bookings.get(uid);
    if (booked === undefined) return undefined;
    this.#clusters.get(booked.booking.cluster)?.capacity.cancel(uid);
    this.#unbook(uid);
    return booked.booking;
  }

  /** The Job is finished or gone. */
  forget(uid: HubUid): Booking | undefined {
    this.#refusals.delete(uid);
    return this.release(uid);
  }

  /** The cluster is not asked again for this Job before a while has passed: never hot, never silent, never given up for good. */
  refuse(
    uid: HubUid,
    cluster: ClusterName,
    reason: Rejection,
    text: string,
    now: number,
    retry?: string | undefined,
  ): void {
    const refusals = this.#refusals.get(uid) ?? new Map<ClusterName, Refusal>();
    const tries = (refusals.get(cluster)?.tries ?? 0) + 1;
    const until = now + pauseMs(reason, tries);
    this.#refusals.set(uid, refusals.set(cluster, { reason, since: now, text, retry, tries, until }));
  }

  /** The cluster says that what it refused the Job for is mended. True: it may be asked again, now or in a moment. */
  mended(uid: HubUid, cluster: ClusterName, now: number): boolean {
    const refusal = this.#refusals.get(uid)?.get(cluster);
    // A node for its pods is nothing that the agent looks for.
    if (refusal === undefined || refusal.reason === "Unschedulable") return false;
    const pause = Math.min(LONGEST_MENDED_MS, FIRST_MENDED_MS * 2 ** Math.min(refusal.tries - 1, 20));
    const until = Math.min(refusal.until, Math.max(now, refusal.since + pause));
    this.#refusals.get(uid)?.set(cluster, { ...refusal, until });
    return true;
  }

  /** Jobs that the cluster refused. Its agent has been started anew, with other settings perhaps: each may be asked for again. */
  mendedAll(cluster: ClusterName, now: number): HubUid[] {
    return [...this.#refusals.keys()].filter((uid) => this.mended(uid, cluster, now));
  }

  /** The clusters that are not asked now, and why. Refusals before the submitter's last `retry` do not count. */
  refusedBy(uid: HubUid, now: number, retry?: string | undefined): Map<ClusterName, string> {
    const isCurrent = (refusal: Refusal): boolean => refusal.until > now && refusal.retry === retry;
    const current = [...(this.#refusals.get(uid) ?? [])].filter(([, refusal]) => isCurrent(refusal));
    return new Map(current.map(([cluster, refusal]) => [cluster, saying(refusal)]));
  }

  /** When the next of them may be asked again. */
  nextTryMs(uid: HubUid, now: number): number | undefined {
    const left = [...(this.#refusals.get(uid)?.values() ?? [])].map(({ until }) => until - now).filter((ms) => ms > 0);
    return left.length === 0 ? undefined : Math.min(...left);
  }

  bookingOf(uid: HubUid): Booking | undefined {
    return this.#bookings.get(uid)?.booking;
  }

  runningOn(cluster: ClusterName): number {
    return this.#onCluster.get(cluster)?.size ?? 0;
  }

  *bookedOn(cluster: ClusterName): Generator<readonly [HubUid, Booking]> {
    for (const uid of this.#onCluster.get(cluster) ?? []) {
      const booked = this.#bookings.get(uid);
      if (booked !== undefined) yield [uid, booked.booking];
    }
  }

  loadOf(queue: string): Load {
    return this.#loads.get(queue) ?? NO_LOAD;
  }

  #unbook(uid: HubUid): void {
    const booked = this.#bookings.get(uid);
    if (booked === undefined) return;
    this.#bookings.delete(uid);
    const { cluster } = booked.booking;
    const others = this.#onCluster.get(cluster);
    others?.delete(uid);
    if (others?.size === 0) this.#onCluster.delete(cluster);
    this.#count(booked.booking, booked.amounts, -1);
  }

  /** Grows with everything that is booked or given back. */
  get version(): number {
    return this.#version;
  }

  #count({ queue }: Booking, amounts: Amounts, sign: 1 | -1): void {
    this.#version++;
    const load = this.#loads.get(queue) ?? { jobs: 0, used: new Map<string, number>() };
    load.jobs += sign;
    for (const [resource, amount] of amounts) load.used.set(resource, (load.used.get(resource) ?? 0) + sign * amount);
    if (load.jobs === 0) this.#loads.delete(queue);
    else this.#loads.set(queue, load);
  }
}

const saying = ({ reason, text }: Refusal): string =>
  reason === "Unschedulable" ? `none of its nodes took the Job's pods: ${text}` : `refused it: ${text}`;

function pauseMs(reason: Rejection, tries: number): number {
  if (STUBBORN.has(reason)) return LONGEST_PAUSE_MS;
  const [first, longest] =
    reason === "Unschedulable"
      ? [UNSCHEDULABLE_PAUSE_MS, LONGEST_UNSCHEDULABLE_MS]
      : [FIRST_PAUSE_MS, LONGEST_PAUSE_MS];
  return Math.min(longest, first * 2 ** Math.min(tries - 1, 20));
}

const NO_LOAD: Load = { jobs: 0, used: new Map() };

const isSame = (one: Booking, other: Booking): boolean =>
  one.cluster === other.cluster &&
  one.queue === other.queue &&
  one.needs.pods === other.needs.pods &&
  one.needs.perPod.size === other.needs.perPod.size &&
  [...one.needs.perPod].every(([resource, amount]) => other.needs.perPod.get(resource) === amount);
