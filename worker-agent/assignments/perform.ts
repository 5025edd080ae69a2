import type { Job } from "@jobferry/shared/job/types.ts";
import type { RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { MAX_SENTENCE_CHARS } from "@jobferry/shared/protocol/limits.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import { type Identity, seqOf, statusOf } from "../mirrors.ts";
import type { Reporter } from "../report/reporter.ts";
import { Arrival, type ArrivalOptions, type Arrived } from "./arrival.ts";
import type { Awaited } from "./awaited.ts";
import type { Action } from "./decide.ts";
import { Departure, type DepartureOptions } from "./departure.ts";
import type { Refusal } from "./refusal.ts";
import type { Answer, State } from "./state.ts";

export interface PerformOptions extends ArrivalOptions, DepartureOptions {
  transport: Pick<AgentTransport, "sendReport">;
  reporter: Pick<Reporter, "now" | "lastWords">;
  awaited: Pick<Awaited, "note" | "forget">;
  /** Whether the manager counts this mirror as ours. */
  isHeld(identity: Identity): boolean;
}

/** What a step made of the state, and what it asks for. */
export interface Performed {
  /** Undefined: as it was. */
  readonly state?: State | "forgotten";
  readonly lookAgainMs?: number;
  /** This mirror is in the way and stands for nothing that the hub still has. */
  readonly displaced?: Identity;
  /** A later epoch of this Job is here. */
  readonly newer?: Epoch;
}

/** A mirror that is in the way takes this long to leave, at least. */
const BLOCKED_MS = 500;
/** A mirror whose copies are under way is looked at again after this long. */
const HELD_MS = 15_000;

/** Carries out what was decided. Each step may be taken again: one that was taken before changes nothing. */
export class Perform {
  readonly #options: PerformOptions;
  readonly #arrival: Arrival;
  readonly departure: Departure;

  constructor(options: PerformOptions) {
    this.#options = options;
    this.departure = new Departure(options);
    this.#arrival = new Arrival(options, this.departure);
  }

  async perform(uid: HubUid, state: State, action: Exclude<Action, { do: "read-mirrors" }>): Promise<Performed> {
    const { epoch, revision } = state;
    switch (action.do) {
      case "await":
        return {};
      case "look-again":
        return { lookAgainMs: action.afterMs };
      case "create":
        return this.#create(state, action);
      case "provide":
        return this.#arrived(state, action.delivery, await this.#arrival.provide(action.mirror, action.delivery));
      case "follow":
        await this.#arrival.follow(action.mirror, action.delivery);
        return { state: { at: "running", epoch, revision } };
      case "stop":
        await this.departure.stop(action.mirror);
        return {};
      case "delete":
        for (const mirror of action.mirrors) await this.departure.delete(mirror, action.propagationPolicy);
        return {};
      case "answer":
        await this.#answer(uid, epoch, action.answer, action.mirror);
        return { state: { at: "over", epoch, revision, answer: action.answer, owed: false } };
      case "report":
        await this.#options.reporter.now(action.mirror);
        return { state: { at: "running", epoch, revision } };
      case "settle":
        return { state: { at: "running", epoch, revision } };
      case "forget":
        return { state: "forgotten" };
    }
  }

  /** This cluster has the mirror, and will not have its pods. */
  podsRefused(uid: HubUid, refusal: Refusal, mirror: Job): void {
    const causes = this.#arrival.causesOf(refusal, mirror);
    if (causes.length > 0) this.#options.awaited.note(uid, causes);
  }

  async #create(state: State, { delivery }: Extract<Action, { do: "create" }>): Promise<Performed> {
    const { isHeld, reporter } = this.#options;
    // The mirror was here before in this epoch: nobody knows better than we do what it achieved.
    const last = reporter.lastWords(delivery);
    const carried = last === undefined ? delivery : { ...delivery, carry: last.status };
    return this.#arrived(state, delivery, await this.#arrival.create(carried, isHeld));
  }

  async #arrived({ epoch, revision }: State, delivery: RunDelivery, arrived: Arrived): Promise<Performed> {
    const { awaited } = this.#options;
    const causes = arrived.is === "refused" ? (arrived.causes ?? []) : [];
    if (causes.length > 0) awaited.note(delivery.uid, causes);
    else awaited.forget(delivery.uid);
    switch (arrived.is) {
      case "here":
        return { state: { at: "running", epoch, revision } };
      case "refused":
        return { state: { at: "over", epoch, revision, answer: { kind: "refused", ...arrived.refusal }, owed: true } };
      case "held":
        // What is fetched brings us here again at once; this is for what was lost.
        return { lookAgainMs: HELD_MS };
      case "newer":
        return { state: "forgotten", newer: arrived.has };
      case "blocked":
        await this.departure.delete(arrived.by, "Foreground");
        return {
          lookAgainMs: BLOCKED_MS,
          ...(arrived.identity.uid === delivery.uid ? {} : { displaced: arrived.identity }),
        };
    }
  }

  /** The answer goes with what the mirror achieved, so that the one cannot be lost without the other. */
  async #answer(uid: HubUid, epoch: Epoch, answer: Answer, mirror: Job | undefined): Promise<void> {
    const { reporter, transport } = this.#options;
    const last =
      mirror === undefined ? reporter.lastWords({ uid, epoch }) : { seq: seqOf(mirror), status: statusOf(mirror) };
    const about = { uid, epoch, ...(last === undefined ? {} : { last }) };
    if (answer.kind === "withdrawn") return transport.sendReport({ kind: "withdrawn", ...about });
    const message = answer.message.slice(0, MAX_SENTENCE_CHARS);
    await transport.sendReport({ kind: "refused", ...about, reason: answer.reason, message });
  }
}
