/**
 * Whether an agent's hello or heartbeat was said just now. Who can write to Redis can keep one and send it again when the agent is
 * long dead. So the leading manager asks each agent to say a word of its own, a nonce, with all it says from then on, and
 * gives it another one every now and then. What comes with none of the last ones proves nothing: it is asked for again.
 *
 *   agent                         manager
 *   hello ------------------->    unproven: counts as nothing
 *         <-------------------    challenge (nonce, again: hello)
 *   hello with the nonce ---->    fresh: contact
 *   heartbeats with it ------>    fresh, each once
 *         <-------------------    challenge (the next nonce), every 20 s
 *
 * An agent of the previous release knows no nonce. It is believed as long as what it says is later than all that it said to this
 * leader before, by its own clocks.
 */
import { type Random, randomId } from "@jobferry/shared/runtime/random.ts";
import type { Health } from "./health.ts";

/** A nonce is renewed after this long, and accepted for this long. */
const RENEW_MS = 20_000;
const GOOD_MS = 60_000;
/** Who repeats old words is not answered more often than this. */
const ASK_MS = 1_000;

export type Verdict = "fresh" | "unproven" | "repeated";

export interface Challenge {
  readonly nonce: string;
  /** Say this again at once: what you said was without a nonce of mine. */
  readonly again?: "hello" | "heartbeat";
}

export class Freshness {
  readonly #random: Random;
  readonly #nonces: { readonly nonce: string; readonly at: number }[] = [];
  #newest: { readonly process: string; readonly sentAt: number; readonly wall: number } | undefined;
  #owed: "hello" | "heartbeat" | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(random: Random) {
    this.#random = random;
  }

  judge({ kind, nonce, stamp, now: wall = Number.POSITIVE_INFINITY }: Health, now: number): Verdict {
    const [process = "", sentAt = ""] = stamp.split(":");
    const isSameProcess = process === this.#newest?.process;
    if (isSameProcess && Number(sentAt) <= (this.#newest?.sentAt ?? 0)) return "repeated";
    if (nonce === undefined) {
      if (!isSameProcess && wall <= (this.#newest?.wall ?? 0)) return "repeated";
    } else if (!this.#isGood(nonce, now)) {
      if (this.#owed !== "hello") this.#owed = kind;
      return "unproven";
    }
    this.#owed = undefined;
    const highest = Math.max(this.#newest?.wall ?? 0, Number.isFinite(wall) ? wall : 0);
    this.#newest = { process, sentAt: Number(sentAt), wall: highest };
    return "fresh";
  }

  /** What the agent should be told now, if anything. */
  challenge(now: number): Challenge | undefined {
    const newest = this.#nonces.at(-1);
    const isOwed = this.#owed !== undefined && now - this.#askedAt >= ASK_MS;
    if (!isOwed && newest !== undefined && now - newest.at < RENEW_MS) return undefined;
    if (!isOwed && this.#owed !== undefined) return undefined;
    const nonce = randomId(this.#random);
    this.#nonces.push({ nonce, at: now });
    while (now - (this.#nonces[0]?.at ?? now) > GOOD_MS) this.#nonces.shift();
    this.#askedAt = now;
    return { nonce, ...(this.#owed === undefined ? {} : { again: this.#owed }) };
  }

  #isGood(nonce: string, now: number): boolean {
    return this.#nonces.some((known) => known.nonce === nonce && now - known.at <= GOOD_MS);
  }
}
