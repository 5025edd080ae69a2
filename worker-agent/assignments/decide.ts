import { isConditionTrue, isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { DeleteDelivery, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import type { Epoch } from "@jobferry/shared/protocol/names.ts";
import { awaitsCopies, identityOf, isLeaving, isOver, isSeeded } from "../mirrors.ts";
import type { Inventory } from "./inventory.ts";
import { hasCopiesOf, isUpToDate } from "./mirror-spec.ts";
import type { Answer, State } from "./state.ts";

/** What is known at the moment of a decision. */
export interface Facts {
  /** Of this hub Job. */
  readonly mirrors: readonly Job[];
  /** They were read from the API server just now. Otherwise the cache shows them, which may be behind our own writes. */
  readonly areRead: boolean;
  /** None until the manager has answered. */
  readonly inventory: Inventory | undefined;
  /** Contact lasts for a Job that has to stop this long after it was lost. */
  inContact(stopAfterSeconds: number): boolean;
  /** How long a finished mirror has still to stay. */
  retentionLeftMs(mirror: Job): number;
}

export type Action =
  /** A watch event, an inventory or a delivery brings us here again. */
  | { readonly do: "await" }
  | { readonly do: "look-again"; readonly afterMs: number }
  /** Absence is proven by a read past our own last write, never by the cache. */
  | { readonly do: "read-mirrors" }
  | { readonly do: "create"; readonly delivery: RunDelivery }
  /** Its copies are fetched, if they are not here yet, and it goes on. */
  | { readonly do: "provide"; readonly delivery: RunDelivery; readonly mirror: Job }
  | { readonly do: "follow"; readonly delivery: RunDelivery; readonly mirror: Job }
  | { readonly do: "stop"; readonly mirror: Job }
  | { readonly do: "delete"; readonly mirrors: readonly Job[]; readonly propagationPolicy: "Foreground" | "Orphan" }
  /** The epoch is over; `mirror` is what it achieved, if it is still here. */
  | { readonly do: "answer"; readonly answer: Answer; readonly mirror?: Job | undefined }
  /** Finished work is not moved: its status is the answer. */
  | { readonly do: "report"; readonly mirror: Job }
  /** Nothing is left to do, and the mirror is what was delivered. */
  | { readonly do: "settle" }
  /** An echo of what has ended: nobody waits for an answer. */
  | { readonly do: "forget" };

const AWAIT: Action = { do: "await" };
/** How often a Job that must not run without contact looks whether there is some. */
const CONTACT_MS = 1_000;

/** The next step towards what the manager wants of this hub Job. Pure. */
export function decide(state: State, facts: Facts): Action {
  switch (state.at) {
    case "due":
      return decideDue(state, facts);
    case "running":
      return AWAIT;
    case "giving-back":
      return decideGivingBack(state, facts);
    case "over":
      return decideOver(state, facts);
    case "released":
      return decideReleased(state, facts);
  }
}

function decideDue(state: State & { at: "due" }, facts: Facts): Action {
  const { delivery, seenLeave = false } = state;
  const older = facts.mirrors.filter((mirror) => epochOf(mirror) < delivery.epoch);
  const current = facts.mirrors.find((mirror) => epochOf(mirror) === delivery.epoch);
  if (delivery.desired === "delete") return remove(delivery, facts, seenLeave);
  // The hub has gone on from them: whatever they achieved is stored, or given up.
  if (older.length > 0) return deletion(older, "Foreground");
  // What has ended here does not run again, even if we were restarted since and forgot.
  const hasEnded = current !== undefined && isOver(current);
  if (delivery.desired === "run" && !hasEnded) return run(delivery, current, facts);
  return current === undefined ? absent(facts, seenLeave) : end(current, { kind: "withdrawn" });
}

/**
 * Nothing here tells a delivery that stands from the echo of one that ended while we were away: the manager's inventory does,
 * before anything is created, resumed or given more pods.
 */
function run(delivery: RunDelivery, current: Job | undefined, { inventory, inContact }: Facts): Action {
  if (current !== undefined) {
    if (isLeaving(current)) return AWAIT;
    const isEcho = delivery.revision < (identityOf(current)?.revision ?? 0);
    if (isSeeded(current) && (isEcho || isUpToDate(current, delivery))) return { do: "settle" };
  }
  if (inventory === undefined) return AWAIT;
  if (!inventory.confirms(delivery)) return { do: "forget" };
  const { stopAfterSeconds } = delivery;
  // A late delivery must not start again what was stopped because contact was lost.
  if (stopAfterSeconds !== undefined && !inContact(stopAfterSeconds)) return { do: "look-again", afterMs: CONTACT_MS };
  if (current === undefined) return { do: "create", delivery };
  if (!awaitsCopies(current)) return { do: "follow", delivery, mirror: current };
  // It never had a pod; made for contents that the hub does not have any more, it is made anew.
  return hasCopiesOf(current, delivery)
    ? { do: "provide", delivery, mirror: current }
    : deletion([current], "Foreground");
}

function remove(delivery: DeleteDelivery, facts: Facts, seenLeave: boolean): Action {
  return facts.mirrors.length > 0 ? deletion(facts.mirrors, delivery.propagationPolicy) : absent(facts, seenLeave);
}

/** There is no mirror to be seen. */
const absent = ({ areRead }: Facts, seenLeave: boolean): Action =>
  seenLeave || areRead ? { do: "answer", answer: { kind: "withdrawn" } } : { do: "read-mirrors" };

function decideGivingBack({ epoch, refusal }: State & { at: "giving-back" }, { mirrors, areRead }: Facts): Action {
  const answer: Answer = { kind: "refused", ...refusal };
  const current = mirrors.find((mirror) => epochOf(mirror) === epoch);
  if (current === undefined) return areRead ? { do: "answer", answer } : { do: "read-mirrors" };
  const hasPods = current.spec.suspend !== true && (current.status?.active ?? 0) > 0;
  return hasPods ? { do: "settle" } : end(current, answer);
}

/** Suspends the mirror, and answers once nothing of it runs and everything is counted. */
function end(mirror: Job, answer: Answer): Action {
  if (isLeaving(mirror)) return AWAIT;
  if (isFinished(mirror)) return { do: "report", mirror };
  // It never ran, and no Job controller will say of it that it is suspended.
  if (!isSeeded(mirror)) return deletion([mirror], "Foreground");
  if (!isStopped(mirror)) return { do: "stop", mirror };
  return isAtRest(mirror) ? { do: "answer", answer, mirror } : AWAIT;
}

function decideOver({ epoch, answer, owed }: State & { at: "over" }, { mirrors }: Facts): Action {
  const current = mirrors.find((mirror) => epochOf(mirror) === epoch && !isLeaving(mirror));
  if (current !== undefined && !isFinished(current) && !isStopped(current)) return { do: "stop", mirror: current };
  return owed ? { do: "answer", answer, mirror: current } : AWAIT;
}

function decideReleased({ epoch }: State & { at: "released" }, { mirrors, retentionLeftMs }: Facts): Action {
  const here = mirrors.filter((mirror) => epochOf(mirror) <= epoch);
  const due = here.filter((mirror) => !isFinished(mirror) || retentionLeftMs(mirror) <= 0);
  if (due.length > 0) return deletion(due, "Foreground");
  return here.length === 0 ? AWAIT : { do: "look-again", afterMs: Math.min(...here.map(retentionLeftMs)) };
}

function deletion(mirrors: readonly Job[], propagationPolicy: "Foreground" | "Orphan"): Action {
  const left = mirrors.filter((mirror) => !isLeaving(mirror));
  return left.length === 0 ? AWAIT : { do: "delete", mirrors: left, propagationPolicy };
}

/** Of all mirrors that are seen here the epoch is known. */
const epochOf = (mirror: Job): Epoch | 0 => identityOf(mirror)?.epoch ?? 0;

const isStopped = (mirror: Job): boolean => mirror.spec.suspend === true && isOver(mirror);

/** Suspended, and everything that ran is stopped and counted. */
function isAtRest({ status = {} }: Job): boolean {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return (
    isConditionTrue(status.conditions ?? [], "Suspended") &&
    (status.active ?? 0) === 0 &&
    (status.terminating ?? 0) === 0 &&
    succeeded.length + failed.length === 0
  );
}
