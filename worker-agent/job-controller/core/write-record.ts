/** SW-8: the newest resourceVersions this controller wrote, which both caches must have reached before the next sync. */
export interface WriteRecord {
  readonly job: string;
  readonly pods: string;
}

export const nothingWritten: WriteRecord = { job: "", pods: "" };

/** As integers of any length. */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

export const newest = (a: string, b: string): string => (isNewer(a, b) ? a : b);

/** The cache that has not caught up, if any. */
export function staleCache(record: WriteRecord, caches: WriteRecord): "jobs" | "pods" | undefined {
  if (isNewer(record.pods, caches.pods)) return "pods";
  if (isNewer(record.job, caches.job)) return "jobs";
  return undefined;
}
