/** Amounts by resource, in the order of `ResourceNumbers`; what is missing at the end is zero. */
export type Vector = readonly number[];

/** Gives each resource that a Job ever asked for a number. */
export class ResourceNumbers {
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }

  /** Undefined: nobody has asked for it. */
  get(resource: string): number | undefined {
    return this.#numbers.get(resource);
  }

  vectorOf(amounts: Iterable<readonly [string, number]>): Vector {
    const vector: number[] = [];
    for (const [resource, amount] of amounts) {
      const number = this.#numbers.get(resource) ?? this.#numbers.size;
      this.#numbers.set(resource, number);
      while (vector.length <= number) vector.push(0);
      vector[number] = amount;
    }
    return vector;
  }
}

/** Whether what is asked for has place in one of these rooms; undefined: there is no limit. */
export function hasPlace(asks: Vector, rooms: readonly Vector[] | undefined): boolean {
  if (rooms === undefined) return true;
  for (const room of rooms) if (isWithin(asks, room)) return true;
  return false;
}

function isWithin(asks: Vector, room: Vector): boolean {
  for (let i = 0; i < asks.length; i++) if ((asks[i] ?? 0) > (room[i] ?? 0)) return false;
  return true;
}
