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
