import { goodIntervals } from "@jobferry/shared/job/index-grammar.ts";
import type { Job } from "@jobferry/shared/job/types.ts";

/** A pod that a Job will have. */
export interface Place {
  readonly place: number;
  /** Of an Indexed Job. */
  readonly index?: number;
}

/** The pods that a Job starts with, `most` of them: what runs at a time, and what is left to do. */
export function earlyPlaces({ spec, status }: Job, most: number): Place[] {
  if (spec.suspend === true) return [];
  const { parallelism = 1, completions, completionMode } = spec;
  const left = completions === undefined ? parallelism : completions - (status?.succeeded ?? 0);
  const count = Math.max(0, Math.min(parallelism, left, most));
  if (completionMode !== "Indexed") return Array.from({ length: count }, (_, place) => ({ place }));
  const done = goodIntervals(`${status?.completedIndexes ?? ""},${status?.failedIndexes ?? ""}`, completions ?? 0);
  const isDone = (index: number): boolean => done.some(({ first, last }) => first <= index && index <= last);
  const places: Place[] = [];
  for (let index = 0; index < (completions ?? 0) && places.length < count; index++)
    if (!isDone(index)) places.push({ place: index, index });
  return places;
}
