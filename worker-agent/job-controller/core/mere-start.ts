import type { Accounting } from "./accounting.ts";
import type { Scaled } from "./after-scale.ts";
import type { Pass } from "./types.ts";

/**
 * The Job's first status would say nothing but when it began and how many pods run, which nobody acts on: no deadline counts
 * from it, no pod has ended, nothing is suspended.
 */
export function isMereStart(pass: Pass, scaled: Scaled, accounting: Accounting): boolean {
  const { spec, status = {} } = pass.job;
  return (
    accounting.write &&
    status.startTime === undefined &&
    accounting.status.startTime !== undefined &&
    (accounting.status.conditions ?? []).length === 0 &&
    spec.activeDeadlineSeconds === undefined &&
    scaled.outcome === undefined &&
    pass.succeeded + pass.failed + accounting.release.length === 0
  );
}
