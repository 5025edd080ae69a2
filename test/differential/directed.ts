/** Cases written by hand: every reason a Job can end with, and `OnFailure`, so that the fixed run never depends on what a seed throws. */
import type { JobSpec, PodFailurePolicyRule } from "@jobferry/shared/job/types.ts";
import { NODE } from "./generate-job.ts";
import type { Case, PodStep, Step } from "./script.ts";

export interface DirectedCase extends Case {
  readonly title: string;
  /** The condition that it must end with, as `Verdict.reasons` has it. */
  readonly ends: string;
}

interface Sketch {
  title: string;
  ends: string;
  spec: Omit<JobSpec, "template">;
  onFailure?: true;
  steps: Step[];
}

const indexed = (completions: number) =>
  ({ completionMode: "Indexed", completions, parallelism: completions }) as const;
const fail = (pod: number, code = 1): PodStep => ({ do: "fail", pod, container: 0, code, finish: "past" });
const onCode42 = (action: PodFailurePolicyRule["action"]): PodFailurePolicyRule => ({
  action,
  onExitCodes: { operator: "In", values: [42] },
});

const SKETCHES: readonly Sketch[] = [
  {
    title: "OnFailure: containers restart in place, and the Job completes",
    ends: "Complete=True CompletionsReached",
    spec: { completions: 2, parallelism: 2, backoffLimit: 3 },
    onFailure: true,
    steps: [
      { do: "restart", pod: 0, times: 1 },
      { do: "ready", pod: 1 },
    ],
  },
  {
    title: "OnFailure: restarts exceed the back-off limit",
    ends: "Failed=True BackoffLimitExceeded",
    spec: { completions: 2, parallelism: 2, backoffLimit: 2 },
    onFailure: true,
    steps: [
      { do: "restart", pod: 0, times: 1 },
      { do: "restart", pod: 1, times: 2 },
    ],
  },
  {
    title: "OnFailure: a lost pod of an Indexed Job is replaced",
    ends: "Complete=True CompletionsReached",
    spec: { ...indexed(2), backoffLimit: 2 },
    onFailure: true,
    steps: [
      { do: "ready", pod: 0 },
      { do: "node-loss", pod: 1, finish: "past" },
    ],
  },
  {
    title: "failed pods exceed the back-off limit",
    ends: "Failed=True BackoffLimitExceeded",
    spec: { completions: 3, parallelism: 2, backoffLimit: 1 },
    steps: [fail(0), fail(0)],
  },
  {
    title: "the deadline passes while pods run",
    ends: "Failed=True DeadlineExceeded",
    spec: { completions: 2, parallelism: 2 },
    steps: [
      { do: "ready", pod: 0 },
      { do: "edit", spec: { activeDeadlineSeconds: 1 } },
    ],
  },
  {
    title: "the failure policy fails the Job by exit code",
    ends: "Failed=True PodFailurePolicy",
    spec: { ...indexed(2), podFailurePolicy: { rules: [onCode42("FailJob")] } },
    steps: [fail(0, 1), fail(1, 42)],
  },
  {
    title: "the failure policy fails the Job by a pod condition",
    ends: "Failed=True PodFailurePolicy",
    spec: {
      completions: 2,
      parallelism: 2,
      podFailurePolicy: {
        rules: [{ action: "FailJob", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
      },
    },
    steps: [{ ...fail(0), condition: { type: "DisruptionTarget", status: "True" } } as PodStep],
  },
  {
    title: "the failure policy ignores one failure and counts another",
    ends: "Complete=True CompletionsReached",
    spec: {
      completions: 2,
      parallelism: 1,
      backoffLimit: 1,
      podFailurePolicy: {
        rules: [onCode42("Ignore"), { ...onCode42("Count"), onExitCodes: { operator: "In", values: [1] } }],
      },
    },
    steps: [fail(0, 42), fail(0, 1)],
  },
  {
    title: "indexes fail, the others complete",
    ends: "Failed=True FailedIndexes",
    spec: { ...indexed(3), backoffLimitPerIndex: 0 },
    steps: [fail(1), { do: "succeed", pod: 0 }],
  },
  {
    title: "a rule fails an index before its limit",
    ends: "Failed=True FailedIndexes",
    spec: { ...indexed(3), backoffLimitPerIndex: 2, podFailurePolicy: { rules: [onCode42("FailIndex")] } },
    steps: [fail(0, 42), fail(1, 1)],
  },
  {
    title: "more indexes fail than may",
    ends: "Failed=True MaxFailedIndexesExceeded",
    spec: { ...indexed(4), backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
    steps: [fail(0), fail(0)],
  },
  {
    title: "the success policy is met",
    ends: "Complete=True SuccessPolicy",
    spec: { ...indexed(3), successPolicy: { rules: [{ succeededIndexes: "1" }] } },
    steps: [
      { do: "ready", pod: 0 },
      { do: "succeed", pod: 1 },
    ],
  },
];

/** Their seeds are negative, so that they belong to no generated case. */
export const directedCases: readonly DirectedCase[] = SKETCHES.map(
  ({ title, ends, spec, onFailure, steps }, index) => ({
    seed: -1 - index,
    title,
    ends,
    spec: {
      ...spec,
      template: {
        spec: {
          restartPolicy: onFailure ? "OnFailure" : "Never",
          containers: [{ name: "main", image: "example.test/main" }],
          nodeName: NODE,
        },
      },
    },
    steps,
    end: "finish",
  }),
);
