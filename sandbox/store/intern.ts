import { frozenCopy } from "./frozen.ts";

const LIMIT = 4096;

/**
 * One frozen copy of values that many objects have in common: the pods of a Job repeat its containers, owner and volumes.
 * Bounded; the value unused for longest goes first.
 */
export class Interner {
  readonly #values = new Map<string, unknown>();

  intern<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    const key = JSON.stringify(value);
    const known = this.#values.get(key);
    if (known !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known as T;
    }
    const fresh = frozenCopy(value);
    this.#values.set(key, fresh);
    const oldest = this.#values.keys().next().value;
    if (this.#values.size > LIMIT && oldest !== undefined) this.#values.delete(oldest);
    return fresh;
  }
}
