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
 * Every start of an agent has a name of its own, its process. One that speaks again after another one spoke, and again, is not its
 * predecessor: two agents live, with the same keys. A replay does not look like it: of each process, only what is later counts.
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
/** More starts than an agent has within the life of a nonce. */
const MAX_PROCESSES = 8;
/** An agent that stood still, and goes on while another one has taken its place, still says a word or two. */
const TURNS = 4;
const TURNS_MS = 60_000;
/** Two agents are said to be two until nothing of the other was heard for this long. */
const TWO_MS = 10 * 60_000;

export type Verdict = "fresh" | "unproven" | "repeated";

export interface Challenge {
  readonly nonce: string;
  /** Say this again at once: what you said was without a nonce of mine. */
  readonly again?: "hello" | "heartbeat";
}

export class Freshness {
  readonly #random: Random;
  readonly #nonces: { readonly nonce: string; readonly at: number }[] = [];
  #newest: { readonly process: string; readonly wall: number } | undefined;
  /** When each process last spoke, by its own clock; those that spoke last at the end. */
  readonly #processes = new Map<string, number>();
  #speaker: string | undefined;
  /** When the last turns were taken by a process that had spoken before. */
  readonly #turns: number[] = [];
  #doubledAt = Number.NEGATIVE_INFINITY;
  #owed: "hello" | "heartbeat" | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(random: Random) {
    this.#random = random;
  }

  judge({ kind, nonce, stamp, now: wall = Number.POSITIVE_INFINITY }: Health, now: number): Verdict {
    const [process = "", sentAt = ""] = stamp.split(":");
    const saidBefore = this.#processes.get(process);
    if (saidBefore !== undefined && Number(sentAt) <= saidBefore) return "repeated";
    this.#heard(process, Number(sentAt), now);
    const isNewest = process === this.#newest?.process;
    if (nonce === undefined) {
      if (!isNewest && wall <= (this.#newest?.wall ?? 0)) return "repeated";
    } else if (!this.#isGood(nonce, now)) {
      if (this.#owed !== "hello") this.#owed = kind;
      return "unproven";
    }
    this.#owed = undefined;
    const highest = Math.max(this.#newest?.wall ?? 0, Number.isFinite(wall) ? wall : 0);
    this.#newest = { process, wall: highest };
    return "fresh";
  }

  /** Two agents speak in turn. */
  isDoubled(now: number): boolean {
    return now - this.#doubledAt < TWO_MS;
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

  #heard(process: string, sentAt: number, now: number): void {
    if (process !== this.#speaker && this.#processes.has(process)) {
      this.#turns.push(now);
      if (this.#turns.length > TURNS) this.#turns.shift();
      if (this.#turns.length === TURNS && now - (this.#turns[0] ?? now) <= TURNS_MS) this.#doubledAt = now;
    }
    this.#speaker = process;
    this.#processes.delete(process);
    this.#processes.set(process, sentAt);
    const [oldest] = this.#processes.keys();
    if (this.#processes.size > MAX_PROCESSES && oldest !== undefined) this.#processes.delete(oldest);
  }

  #isGood(nonce: string, now: number): boolean {
    return this.#nonces.some((known) => known.nonce === nonce && now - known.at <= GOOD_MS);
  }
}
