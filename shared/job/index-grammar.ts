/** The strict grammar of index strings that the API server enforces (section 30, IG-*). */
import { parseGoInt } from "./go-int.ts";

export type IndexCheck = { readonly count: number } | { readonly error: string };

/** Number of indexes named by `text`, or the first error (IG-7). */
export function checkIndexes(text: string, completions: number): IndexCheck {
  if (text === "") return { count: 0 };
  let count = 0;
  let previousLast = -1;
  for (const fragment of text.split(",")) {
    const interval = parseInterval(fragment, completions);
    if ("error" in interval) return interval;
    if (interval.first <= previousLast) {
      return { error: `index ${interval.first} does not come after ${previousLast}; list indexes in ascending order` };
    }
    count += interval.last - interval.first + 1;
    previousLast = interval.last;
  }
  return { count };
}

/**
 * The first index named by both strings (IG-8). Fragments that break the grammar are passed over: `checkIndexes` reports
 * them. On unordered input this finds what the API server finds, which is not every overlap.
 */
export function firstOverlap(completed: string, failed: string, completions: number): number | undefined {
  const completedIntervals = goodIntervals(completed, completions);
  const failedIntervals = goodIntervals(failed, completions);
  let c = 0;
  let f = 0;
  for (;;) {
    const done = completedIntervals[c];
    const broken = failedIntervals[f];
    if (done === undefined || broken === undefined) return undefined;
    if (done.first <= broken.last && broken.first <= done.last) return Math.max(done.first, broken.first);
    if (done.first <= broken.first) c++;
    else f++;
  }
}

/** What is left of an index string of a Job that has only `completions` indexes now, and how many that names. */
export function indexesBelow(text: string, completions: number): { readonly text: string; readonly count: number } {
  const kept: Interval[] = [];
  for (const { first, last } of goodIntervals(text, Number.POSITIVE_INFINITY)) {
    const end = Math.min(last, completions - 1);
    if (end >= first) kept.push({ first, last: end });
  }
  return written(kept);
}

/** Every index that one of two index strings names, and how many these are. */
export function indexesOfBoth(one: string, other: string): { readonly text: string; readonly count: number } {
  const all = [one, other].flatMap((text) => goodIntervals(text, Number.POSITIVE_INFINITY));
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of all.sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return written(merged);
}

function written(intervals: readonly Interval[]): { readonly text: string; readonly count: number } {
  const parts = intervals.map(({ first, last }) =>
    last === first ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`,
  );
  return { text: parts.join(","), count: intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0) };
}

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Fragments that break the grammar are passed over. */
export function goodIntervals(text: string, completions: number): Interval[] {
  return text
    .split(",")
    .map((fragment) => parseInterval(fragment, completions))
    .filter((interval): interval is Interval => !("error" in interval));
}

function parseInterval(fragment: string, completions: number): Interval | { readonly error: string } {
  const parts = fragment.split("-");
  if (parts.length > 2) return { error: `"${fragment}" has more than one "-"` };
  const bounds: number[] = [];
  for (const part of parts) {
    const bound = parseGoInt(part);
    if (bound === undefined) return { error: `"${part}" is not an index` };
    if (bound >= completions) return { error: `index ${part} is not below the ${completions} completions` };
    bounds.push(bound);
  }
  const [first = 0, last = first] = bounds;
  if (bounds.length === 2 && first >= last) return { error: `"${fragment}" does not ascend` };
  return { first, last };
}
