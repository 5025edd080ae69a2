import type { AssignmentDelivery, AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import type { Refusal } from "./refusal.ts";

/** What the manager is told at the end of an epoch. */
export type Answer = { readonly kind: "withdrawn" } | ({ readonly kind: "refused" } & Refusal);

/** The newest that was delivered about a hub Job. */
interface Newest {
  readonly epoch: Epoch;
  readonly revision: number;
}

/**
 * Where one hub Job stands on this cluster, in the newest epoch that was heard of.
 *
 * due          a delivery is to be brought about
 * running      the mirror is what was delivered
 * giving-back  its pods cannot be created here: it is being stopped, to go to another cluster
 * over         the epoch has ended here and the manager was told; a stopped mirror stays until it is released
 * released     everything it achieved is stored on the hub: the mirror goes
 *
 * (nothing) -> due -> running -> due ...; due, running -> giving-back -> over; due -> over; any -> released. Within an epoch the
 * way leads only forward: what is over is never run again.
 */
export type State = Newest &
  (
    | {
        readonly at: "due";
        readonly delivery: AssignmentDelivery /** Its mirror was seen to leave. */;
        readonly seenLeave?: boolean;
      }
    | { readonly at: "running" }
    | { readonly at: "giving-back"; readonly refusal: Refusal }
    | { readonly at: "over"; readonly answer: Answer /** It has to be told, or told again. */; readonly owed: boolean }
    | { readonly at: "released" }
  );

/** Jobs with nothing left to do that are remembered; what is forgotten can be told by the mirror or by the inventory. */
const REMEMBERED = 16_384;

/** The states of all hub Jobs: bounded, except for what the manager wants done. */
export class States {
  readonly #open = new Map<HubUid, State>();
  readonly #settled = new LruMap<HubUid, State>(REMEMBERED);

  get(uid: HubUid): State | undefined {
    return this.#open.get(uid) ?? this.#settled.peek(uid);
  }

  set(uid: HubUid, state: State | undefined): void {
    this.#open.delete(uid);
    this.#settled.delete(uid);
    if (state === undefined) return;
    if (isOpen(state)) this.#open.set(uid, state);
    else this.#settled.set(uid, state);
  }

  /** Those with something left to do. */
  open(): HubUid[] {
    return [...this.#open.keys()];
  }
}

const isOpen = (state: State): boolean =>
  state.at === "due" || state.at === "giving-back" || (state.at === "over" && state.owed);

export interface Received {
  readonly state: State | undefined;
  /** The delivery is of an older epoch than this one, which was heard of before. */
  readonly newer?: Epoch;
}

/**
 * What a delivery makes of the state. `mirrorEpoch`: of the newest mirror there is. Deliveries may be late, or come twice. Within
 * an epoch an end is final whatever its revision, and of two ends a deletion counts; of two that say run, the newer.
 */
export function receive(
  state: State | undefined,
  delivery: AssignmentDelivery,
  mirrorEpoch: Epoch | undefined,
): Received {
  const has = newest(state?.epoch, mirrorEpoch);
  if (has !== undefined && delivery.epoch < has) return { state, newer: has };
  const due: State = { at: "due", epoch: delivery.epoch, revision: delivery.revision, delivery };
  if (state === undefined || state.epoch < delivery.epoch) return { state: due };
  const { desired } = delivery;
  const revision = Math.max(state.revision, delivery.revision);
  switch (state.at) {
    case "running":
      return { state: desired === "run" && delivery.revision < state.revision ? state : { ...due, revision } };
    case "due":
      if (rank(desired) < rank(state.delivery.desired)) return { state: { ...state, revision } };
      if (desired === "run" && delivery.revision < state.revision) return { state };
      return { state: { ...state, revision, delivery } };
    case "giving-back":
      return { state: desired === "run" ? { ...state, revision } : { ...due, revision } };
    case "over":
      return { state: desired === "delete" ? { ...due, revision } : { ...state, revision, owed: true } };
    case "released":
      // Somebody asks for what was let go of: it is not run again, and told so once it is gone.
      return { state: { ...due, revision, delivery: desired === "run" ? asEnd(delivery) : delivery } };
  }
}

/** The manager has everything. A deletion that waits here removes the mirror itself, and is answered. */
export function release(state: State | undefined, { epoch }: AssignmentRef): State {
  if (state === undefined || state.epoch < epoch) return { at: "released", epoch, revision: state?.revision ?? 0 };
  if (state.epoch > epoch || (state.at === "due" && state.delivery.desired === "delete")) return state;
  return { at: "released", epoch, revision: state.revision };
}

/** This cluster will not have its pods. What is to end ends, and what has just been delivered anew is tried first. */
export function giveBack(state: State | undefined, { epoch }: AssignmentRef, refusal: Refusal): State | undefined {
  const isRunning = state === undefined || (state.at === "running" && state.epoch === epoch);
  return isRunning ? { at: "giving-back", epoch, revision: state?.revision ?? 0, refusal } : state;
}

/** A delivery that asks to run what has ended, as the end that it gets. */
const asEnd = ({ uid, epoch, revision }: AssignmentDelivery): AssignmentDelivery => ({
  kind: "assignment",
  uid,
  epoch,
  revision,
  desired: "hand-over",
});

const rank = (desired: AssignmentDelivery["desired"]): number => ["run", "hand-over", "delete"].indexOf(desired);

const newest = (one: Epoch | undefined, other: Epoch | undefined): Epoch | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;
