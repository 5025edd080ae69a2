import { isNewerVersion } from "@jobferry/shared/kube/resource-version.ts";

/** SW-8: the newest resourceVersions this controller wrote, which both caches must have reached before the next sync. */
export interface WriteRecord {
  readonly job: string;
  readonly pods: string;
}

export const nothingWritten: WriteRecord = { job: "", pods: "" };

export const newest = (a: string, b: string): string => (isNewerVersion(a, b) ? a : b);

/** The cache that has not caught up, if any. */
export function staleCache(record: WriteRecord, caches: WriteRecord): "jobs" | "pods" | undefined {
  if (isNewerVersion(record.pods, caches.pods)) return "pods";
  if (isNewerVersion(record.job, caches.job)) return "jobs";
  return undefined;
}
