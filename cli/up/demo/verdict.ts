import { findCondition, isFailed } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER } from "@jobferry/shared/protocol/marks.ts";
import type { Ending } from "./examples.ts";
import { stateOf } from "./row.ts";

/** Everything that was seen of one Job. */
export class History {
  readonly states = new Set<string>();
  readonly clusters = new Set<string>();
  last: Job | undefined;

  record(job: Job): void {
    this.last = job;
    this.states.add(stateOf(job));
    const cluster = job.metadata.annotations?.[CLUSTER];
    if (cluster !== undefined) this.clusters.add(cluster);
  }
}

/** What differs from the ending expected, as sentences; empty if nothing does. */
export function differences(ending: Ending, { last, states, clusters }: History): string[] {
  if (last === undefined) return ["was never seen on the hub"];
  const { status } = last;
  const actual: Required<Ending> = {
    state: stateOf(last) as Ending["state"],
    reason: findCondition(status?.conditions, isFailed(last) ? "Failed" : "Complete")?.reason ?? "none",
    succeeded: status?.succeeded ?? 0,
    failed: status?.failed ?? 0,
    completedIndexes: status?.completedIndexes ?? "none",
    clusters: clusters.size,
    through: ending.through !== undefined && states.has(ending.through) ? ending.through : "other states only",
  };
  return Object.entries(ending)
    .filter(([field, expected]) => actual[field as keyof Ending] !== expected)
    .map(([field, expected]) => `${field} is ${actual[field as keyof Ending]}, not ${expected}`);
}
