/**
 * When a `StopThenRedispatch` Job stops on a cluster that lost contact, and when it may therefore start on another.
 *
 * Both sides count from the same moment: the sending of the last heartbeat that the manager heard. The agent knows it because
 * the manager gives the heartbeat's stamp back, so a message that is late, or read late, cannot make it stop later; the
 * manager counts from its arrival, which is later still. This many seconds after that moment the agent suspends the Job. What
 * then remains is for the pods to end: their grace period, and some slack for the API server, the Job controller, the kubelet
 * and an agent that had to be restarted. The time to stop is stored with the assignment: a `lostAfter` that is edited while
 * nobody hears of it changes nothing. An agent or API server that is dead stops nothing; no other cluster can know.
 */
import type { Job } from "@jobferry/shared/job/types.ts";

/** Three inventories in a row may be missed before a Job is stopped for nothing. */
const LEAST_STOP_AFTER_SECONDS = 45;
const SLACK_SECONDS = 30;
/** The API server's default. */
const GRACE_SECONDS = 30;

const endingSeconds = ({ spec }: Job): number =>
  Math.max(0, spec.template.spec?.terminationGracePeriodSeconds ?? GRACE_SECONDS) + SLACK_SECONDS;

/** Two thirds of `lostAfter`, earlier when the pods need more than the last third to end. */
export function stopAfterSeconds(job: Job, lostAfterMs: number): number {
  const lostAfter = Math.floor(lostAfterMs / 1000);
  const inTime = Math.min(Math.floor((lostAfter * 2) / 3), lostAfter - endingSeconds(job));
  return Math.max(LEAST_STOP_AFTER_SECONDS, inTime);
}

/** After this much silence nothing of the Job runs any more, whatever `lostAfter` is now. */
export const stoppedAfterMs = (job: Job, stopAfter: number): number => (stopAfter + endingSeconds(job)) * 1000;
