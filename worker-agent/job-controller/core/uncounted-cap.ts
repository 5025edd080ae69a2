/**
 * Extension (KD-25): how long a pod that ended may wait uncounted. The released controller gathers ends for 1 s (K-1); a Job
 * whose user wants to see them sooner, and pays with more status writes, asks for less in this annotation.
 */
import type { Job } from "@jobferry/shared/job/types.ts";

/** Job, by the submitter: count its finished pods sooner than the batch would ([more](../extensions.md)). */
export const MAX_UNCOUNTED_SECONDS = "jobferry.dev/max-uncounted-seconds";

/** Whoever may create a Job may set this, so it bounds the syncs of one Job to twenty per second. */
const MIN_MS = 50;
/** K-1: more would have no effect. */
const MAX_MS = 1000;
const SECONDS = /^[01](?:\.\d{1,3})?$/;

export const MAX_UNCOUNTED_SECONDS_HELP =
  'write a number of seconds from 0.05 to 1 with at most three decimals, as "0.2"';

/** In milliseconds; undefined when the annotation is missing or wrong. */
export function uncountedCapMs(job: Job): number | undefined {
  const text = job.metadata.annotations?.[MAX_UNCOUNTED_SECONDS];
  return text === undefined ? undefined : parseUncountedCap(text);
}

export function parseUncountedCap(text: string): number | undefined {
  if (!SECONDS.test(text)) return undefined;
  const ms = Math.round(Number(text) * 1000);
  return MIN_MS <= ms && ms <= MAX_MS ? ms : undefined;
}
