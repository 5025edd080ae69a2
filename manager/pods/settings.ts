import type { Job } from "@jobferry/shared/job/types.ts";
import { PODS } from "@jobferry/shared/protocol/marks.ts";

/** What the manager shows of pods, as whoever runs it decided. */
export interface PodSettings {
  /** Of one Job at a time. */
  readonly maxShadowPods: number;
  /** On the hub at a time, of pods that do not exist yet. */
  readonly maxEarlyShadows: number;
}

export const DEFAULT_POD_SETTINGS: PodSettings = { maxShadowPods: 100, maxEarlyShadows: 2_000 };

/** How many pods of this Job are shown on the hub: the Job's own wish counts, then its queue's. */
export function shadowPodsOf(job: Job, settings: PodSettings | undefined, queue: "Shadow" | "None"): number {
  if (settings === undefined) return 0;
  const wish = job.metadata.annotations?.[PODS];
  const choice = wish === "Shadow" || wish === "None" ? wish : queue;
  return choice === "None" ? 0 : settings.maxShadowPods;
}

/** For the message of a Job that has more pods than are shown. */
export function shownSentence({ spec }: Job, most: number): string | undefined {
  const pods = Math.max(spec.completions ?? 0, spec.parallelism ?? 1);
  return most > 0 && pods > most ? `the hub shows ${most} of its pods, those that fail first` : undefined;
}
