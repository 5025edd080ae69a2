/** Section 8: writes whose echo the cache has not shown yet. Keyed by Job UID by the caller (SX-11). */
export interface Expectations {
  readonly creations: number;
  readonly deletions: number;
  readonly sinceMs: number;
}

/** SX-1 */
export const expectCreations = (count: number, nowMs: number): Expectations => ({
  creations: count,
  deletions: 0,
  sinceMs: nowMs,
});
export const expectDeletions = (count: number, nowMs: number): Expectations => ({
  creations: 0,
  deletions: count,
  sinceMs: nowMs,
});

/** SX-6: counters may go below zero, which is harmless. */
export const creationsSeen = (expected: Expectations, count: number): Expectations => ({
  ...expected,
  creations: expected.creations - count,
});
export const deletionsSeen = (expected: Expectations, count: number): Expectations => ({
  ...expected,
  deletions: expected.deletions - count,
});

/** SX-2 */
export const isSatisfied = (expected: Expectations | undefined, nowMs: number, timeoutMs: number): boolean =>
  expected === undefined ||
  (expected.creations <= 0 && expected.deletions <= 0) ||
  nowMs - expected.sinceMs > timeoutMs;
