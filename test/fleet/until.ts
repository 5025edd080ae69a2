/** How all tests on real time wait: for a condition, with a bound, and with a word on what they saw when it did not come. */
import { setTimeout as delay } from "node:timers/promises";

export interface UntilOptions {
  limitMs?: number;
  everyMs?: number;
  /** What helps to see why it did not happen, such as a log. */
  explain?: () => string | Promise<string>;
}

/** Resolves with the first answer of `look` that is neither undefined nor false. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { limitMs = 90_000, everyMs = 25, explain = () => "" }: UntilOptions = {},
): Promise<Exclude<T, undefined | false>> {
  for (const deadline = performance.now() + limitMs; performance.now() < deadline; await delay(everyMs)) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
  }
  throw new Error(`not within ${limitMs / 1000} s: ${what}\n${await explain()}`.trimEnd());
}
