/**
 * Randomness as a port: a number in [0, 1). Whoever waits with jitter or needs a name of its own is given one, so that a
 * simulation can seed them all.
 */
export type Random = () => number;

export const realRandom: Random = Math.random;

/** 128 bits in hex, to tell one process from another. Not a secret. */
export function randomId(random: Random): string {
  const words = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32));
  return words.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** The same seed gives the same numbers on every machine (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
