/**
 * SX-3, SX-4: batches of 1, 2, 4, ... so that a Job whose pods the server refuses (quota, admission) costs few calls. All
 * calls of a batch run at once and are awaited; after a batch with a failure the rest is not tried.
 */
export async function slowStart<T>(
  items: readonly T[],
  call: (item: T) => Promise<"done" | "failed">,
): Promise<{ failed: number; skipped: number }> {
  let failed = 0;
  let next = 0;
  for (let size = 1; next < items.length && failed === 0; size *= 2) {
    const results = await Promise.all(items.slice(next, next + size).map(call));
    failed += results.filter((result) => result === "failed").length;
    next += results.length;
  }
  return { failed, skipped: items.length - next };
}
