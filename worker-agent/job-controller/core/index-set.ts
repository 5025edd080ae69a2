import { parseGoInt } from "@jobferry/shared/job/go-int.ts";

/**
 * An immutable set of completion indexes, kept as sorted, disjoint, non-adjacent intervals: a Job of 100,000 indexes that
 * finish roughly in order is a handful of numbers.
 */
export class IndexSet implements Iterable<number> {
  static readonly empty = new IndexSet([], []);

  readonly size: number;
  readonly #firsts: readonly number[];
  readonly #lasts: readonly number[];

  /** Both arrays as described above; everyone else builds sets through the static functions. */
  private constructor(firsts: readonly number[], lasts: readonly number[]) {
    this.#firsts = firsts;
    this.#lasts = lasts;
    let size = 0;
    for (let i = 0; i < firsts.length; i++) size += at(lasts, i) - at(firsts, i) + 1;
    this.size = size;
  }

  /** Any order, duplicates allowed. */
  static from(indexes: Iterable<number>): IndexSet {
    const sorted = Float64Array.from(indexes).sort();
    return sorted.length === 0 ? IndexSet.empty : IndexSet.#merge(sorted, sorted);
  }

  /** Every index from `first` to `last`, both included; empty when `last` is smaller. */
  static range(first: number, last: number): IndexSet {
    return last < first ? IndexSet.empty : new IndexSet([first], [last]);
  }

  /**
   * Lenient reading of `status.completedIndexes` and `status.failedIndexes` (IX-4): what does not parse is skipped,
   * everything from the first fragment at or above `completions` is forgotten (IX-11).
   */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (text === undefined || text === "") return IndexSet.empty;
    const intervals: [number, number][] = [];
    for (const fragment of text.split(",")) {
      const [low = "", high = low] = fragment.split("-");
      const first = parseGoInt(low);
      if (first === undefined) continue;
      if (first >= completions) break;
      const last = parseGoInt(high);
      if (last !== undefined && last >= first) intervals.push([first, Math.min(last, completions - 1)]);
    }
    intervals.sort((a, b) => a[0] - b[0]);
    return IndexSet.#merge(
      intervals.map((interval) => interval[0]),
      intervals.map((interval) => interval[1]),
    );
  }

  has(index: number): boolean {
    const position = this.#lastStartingAtOrBelow(index);
    return position >= 0 && index <= at(this.#lasts, position);
  }

  /** This set and `indexes`, in any order. */
  with(indexes: Iterable<number>): IndexSet {
    return this.union(IndexSet.from(indexes));
  }

  union(other: IndexSet): IndexSet {
    if (other.size === 0) return this;
    if (this.size === 0) return other;
    const firsts: number[] = [];
    const lasts: number[] = [];
    let mine = 0;
    let theirs = 0;
    while (mine < this.#firsts.length || theirs < other.#firsts.length) {
      const takeMine =
        theirs >= other.#firsts.length ||
        (mine < this.#firsts.length && at(this.#firsts, mine) <= at(other.#firsts, theirs));
      const source = takeMine ? this : other;
      const position = takeMine ? mine++ : theirs++;
      firsts.push(at(source.#firsts, position));
      lasts.push(at(source.#lasts, position));
    }
    return IndexSet.#merge(firsts, lasts);
  }

  intersectionSize(other: IndexSet): number {
    let common = 0;
    let mine = 0;
    let theirs = 0;
    while (mine < this.#firsts.length && theirs < other.#firsts.length) {
      const first = Math.max(at(this.#firsts, mine), at(other.#firsts, theirs));
      const last = Math.min(at(this.#lasts, mine), at(other.#lasts, theirs));
      if (first <= last) common += last - first + 1;
      if (at(this.#lasts, mine) < at(other.#lasts, theirs)) mine++;
      else theirs++;
    }
    return common;
  }

  /** The `count` lowest indexes in `[0, completions)` that are not in the set (IX-8). */
  lowestMissing(count: number, completions: number): number[] {
    const missing: number[] = [];
    let candidate = 0;
    for (let i = 0; i <= this.#firsts.length && missing.length < count; i++) {
      const gapEnd = Math.min(this.#firsts[i] ?? completions, completions);
      while (candidate < gapEnd && missing.length < count) missing.push(candidate++);
      candidate = Math.max(candidate, (this.#lasts[i] ?? candidate) + 1);
    }
    return missing;
  }

  /** Ascending. */
  *[Symbol.iterator](): Generator<number> {
    for (let i = 0; i < this.#firsts.length; i++) {
      for (let index = at(this.#firsts, i); index <= at(this.#lasts, i); index++) yield index;
    }
  }

  /** The status form (IX-3): `1,3-5,7`; a run of two is written `a,b`. */
  toString(): string {
    const fragments: string[] = [];
    for (let i = 0; i < this.#firsts.length; i++) {
      const first = at(this.#firsts, i);
      const last = at(this.#lasts, i);
      if (first === last) fragments.push(String(first));
      else fragments.push(`${first}${last === first + 1 ? "," : "-"}${last}`);
    }
    return fragments.join(",");
  }

  #lastStartingAtOrBelow(index: number): number {
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (at(this.#firsts, middle) <= index) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Joins overlapping and adjacent intervals that are sorted by their start. */
  static #merge(sortedFirsts: ArrayLike<number>, itsLasts: ArrayLike<number>): IndexSet {
    const firsts: number[] = [];
    const lasts: number[] = [];
    for (let i = 0; i < sortedFirsts.length; i++) {
      const first = at(sortedFirsts, i);
      const last = at(itsLasts, i);
      const end = lasts.length - 1;
      if (end >= 0 && first <= at(lasts, end) + 1) {
        lasts[end] = Math.max(at(lasts, end), last);
      } else {
        firsts.push(first);
        lasts.push(last);
      }
    }
    return new IndexSet(firsts, lasts);
  }
}

/** Positions are bounded by the callers' loops. */
const at = (list: ArrayLike<number>, position: number): number => list[position] as number;
