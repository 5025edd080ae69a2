/** Deterministic when seeded, so that a simulated run can be repeated with the same uids and names. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number below 2^32 (splitmix32). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  /** A version 4 UUID. */
  uid(): string {
    const hex = [0, 0, 0, 0].map(() => this.next().toString(16).padStart(8, "0")).join("");
    const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) & 3);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** What the API server appends to `generateName`. */
  nameSuffix(): string {
    let suffix = "";
    for (let i = 0; i < 5; i++) suffix += SUFFIX_LETTERS.charAt(this.below(SUFFIX_LETTERS.length));
    return suffix;
  }
}
