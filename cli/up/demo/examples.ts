/** The examples, what the demo does to them, and how each has to end. */
import { findCondition, isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER } from "@jobferry/shared/protocol/marks.ts";

/** What an example may do while its Job runs. */
export interface Stage {
  /** Resolves with the Job as soon as it is so. */
  until(what: (job: Job) => boolean): Promise<Job>;
  suspend(suspend: boolean): Promise<void>;
  /** Stops or starts the agent of a worker. */
  cutOff(worker: string): Promise<void>;
  reconnect(worker: string): void;
  say(text: string): void;
}

/** The end of a Job in the words of its status. */
export interface Ending {
  readonly state: "Complete" | "Failed";
  readonly reason?: string;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  /** Clusters it was on, one after another. */
  readonly clusters?: number;
  /** A state that must have been seen on the way. */
  readonly through?: string;
}

export interface Example {
  readonly name: string;
  readonly shows: string;
  readonly ending: Ending;
  act?(stage: Stage): Promise<void>;
}

const succeeded = (job: Job): number => job.status?.succeeded ?? 0;

async function suspendAndResume({ until, suspend, say }: Stage): Promise<void> {
  await until((job) => succeeded(job) >= 1);
  await suspend(true);
  say("suspend-resume: suspended by the demo");
  await until(({ status, spec }) => spec.suspend === true && isSuspended(status) && (status?.active ?? 0) === 0);
  await suspend(false);
  say("suspend-resume: resumed");
}

const isSuspended = (status: Job["status"]): boolean =>
  findCondition(status?.conditions, "Suspended")?.status === "True";

async function loseItsWorker({ until, cutOff, reconnect, say }: Stage): Promise<void> {
  const job = await until((each) => succeeded(each) >= 2 || isFinished(each));
  const worker = job.metadata.annotations?.[CLUSTER] ?? "";
  await cutOff(worker);
  say(`worker-lost: ${worker} is cut off; after 15 s it counts as silent, 30 s later as lost, and the Job moves`);
  try {
    await until((each) => ![undefined, worker].includes(each.metadata.annotations?.[CLUSTER]) || isFinished(each));
    say("worker-lost: given to another worker, with what was complete");
    await until(isFinished);
  } finally {
    reconnect(worker);
    say(`${worker} is back; what it still has of the Job is withdrawn`);
  }
}

/** All at once. */
export const TOGETHER: readonly Example[] = [
  { name: "plain", shows: "a Job runs on a worker and looks local", ending: { state: "Complete", succeeded: 1 } },
  {
    name: "indexed",
    shows: "completed indexes are mirrored",
    ending: { state: "Complete", succeeded: 6, completedIndexes: "0-5" },
  },
  {
    name: "exit-code",
    shows: "podFailurePolicy fails the Job by exit code",
    ending: { state: "Failed", reason: "PodFailurePolicy", failed: 1 },
  },
  {
    name: "success-policy",
    shows: "successPolicy ends the Job early",
    ending: { state: "Complete", reason: "SuccessPolicy", completedIndexes: "0" },
  },
  {
    name: "suspend-resume",
    shows: "suspended and resumed on the hub",
    ending: { state: "Complete", succeeded: 4, completedIndexes: "0-3", through: "Suspended" },
    act: suspendAndResume,
  },
];

/** Afterwards, because it takes a worker away. */
export const LAST: Example = {
  name: "worker-lost",
  shows: "a lost worker's Job moves with its completed indexes",
  ending: { state: "Complete", succeeded: 6, completedIndexes: "0-5", clusters: 2 },
  act: loseItsWorker,
};
