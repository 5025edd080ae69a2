/**
 * A generated case: one Job, and what happens to it and its pods. A step never names a pod: `pod: 2` means the third of the
 * pods it can apply to, in the order of roles.ts, counted round when there are fewer. Nothing to apply to: nothing happens.
 */
import type { JobSpec } from "@jobferry/shared/job/types.ts";

/**
 * When a failure happened, as the kubelet tells it: an hour ago (its back-off is over), now, or 20 s ahead (the back-off
 * lasts long enough for the following steps to fall into it).
 */
export type Finish = "past" | "now" | "ahead";

export type PodStep =
  /** The kubelet starts the pod. */
  | { do: "run"; pod: number }
  | { do: "ready"; pod: number }
  | { do: "unready"; pod: number }
  | { do: "succeed"; pod: number }
  | { do: "succeed-all" }
  | { do: "fail"; pod: number; container: number; code: number; finish: Finish; condition?: PodConditionPattern }
  /** A container restarts in place. */
  | { do: "restart"; pod: number; times: number }
  | { do: "delete"; pod: number; finish: Finish }
  /** Through the eviction API, which adds the condition DisruptionTarget. */
  | { do: "evict"; pod: number; finish: Finish }
  /** What PodGC does to the pods of a vanished node. */
  | { do: "node-loss"; pod: number; finish: Finish }
  /** The kubelet ends a terminating pod. */
  | { do: "reap"; pod: number; phase: "Succeeded" | "Failed"; code: number; finish: Finish }
  /** Somebody cleans up a finished pod. */
  | { do: "delete-finished"; pod: number }
  /** A finished pod's phase turns round. */
  | { do: "flip"; pod: number }
  /** The pod's labels stop matching; `reclaim` makes them match again. */
  | { do: "release"; pod: number }
  | { do: "reclaim"; pod: number }
  /** A pod of nobody starts to match the selector. */
  | { do: "adopt"; index: number; phase: "Pending" | "Succeeded" }
  /** Gives every active pod a place of its own in the removal order, the least progressed first. */
  | { do: "rank"; shuffle: number };

export interface PodConditionPattern {
  type: string;
  status: "True" | "False";
}

export type JobStep =
  | { do: "edit"; spec: Partial<EditableSpec> }
  | { do: "await-deadline" }
  | { do: "delete-job"; propagation: "Foreground" | "Background" };

export type EditableSpec = Pick<
  JobSpec,
  | "parallelism"
  | "completions"
  | "suspend"
  | "backoffLimit"
  | "maxFailedIndexes"
  | "activeDeadlineSeconds"
  | "podReplacementPolicy"
> & { template: { metadata: { annotations: Record<string, string> } } };

/** Both controllers are killed, things happen, both start again. */
interface RestartStep {
  do: "restart-controllers";
  meanwhile: (PodStep | JobStep)[];
}

export type Step = PodStep | JobStep | RestartStep;

export interface Case {
  seed: number;
  /** Of a case that was written by hand. */
  title?: string;
  spec: JobSpec;
  steps: Step[];
  /** `finish`: after the last step pods succeed until the Job is done; `leave`: the Job stays as it is. */
  end: "finish" | "leave";
}

export const restarts = (play: Case): boolean => play.steps.some((step) => step.do === "restart-controllers");

export function describeStep(step: Step): string {
  const { do: verb, ...rest } = step;
  if (step.do !== "restart-controllers") return `${verb} ${JSON.stringify(rest)}`;
  return [verb, ...step.meanwhile.map((inner) => `    ${describeStep(inner)}`)].join("\n");
}

export const nameOf = ({ seed, title }: Case): string => (title === undefined ? `seed ${seed}` : `${seed}: ${title}`);

export function describeCase(play: Case): string {
  return [
    nameOf(play),
    `Job ${JSON.stringify(play.spec)}`,
    ...play.steps.map((step, i) => `${String(i + 1).padStart(2)}. ${describeStep(step)}`),
    `then ${play.end}`,
  ].join("\n");
}
