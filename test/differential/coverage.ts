import type { JobSpec } from "@jobferry/shared/job/types.ts";
import type { Verdict } from "./match.ts";
import type { Case, Step } from "./script.ts";

/** What a case exercises: by its Job, by the steps that found something to act on, by the conditions that came of it. */
export function featuresOf(play: Case, verdict: Verdict): string[] {
  return [
    ...jobFeatures(play.spec),
    ...new Set([...editFeatures(play.steps), ...verdict.played.map((verb) => `step: ${verb}`)]),
    ...new Set(verdict.reasons.map((reason) => `condition: ${reason}`)),
  ];
}

function* jobFeatures(spec: JobSpec): Generator<string> {
  const indexed = spec.completionMode === "Indexed";
  if (!indexed) yield spec.completions === undefined ? "Job: work queue" : "Job: NonIndexed";
  if (indexed) yield "Job: Indexed";
  if (spec.backoffLimitPerIndex !== undefined) yield "Job: backoffLimitPerIndex";
  if (spec.maxFailedIndexes !== undefined) yield "Job: maxFailedIndexes";
  if (spec.successPolicy !== undefined) yield "Job: successPolicy";
  if (spec.backoffLimit !== undefined) yield "Job: backoffLimit";
  if (spec.suspend) yield "Job: created suspended";
  if (spec.activeDeadlineSeconds !== undefined) yield "Job: activeDeadlineSeconds";
  if (spec.manualSelector) yield "Job: manualSelector";
  if (spec.template.spec.restartPolicy === "OnFailure") yield "Job: OnFailure";
  if (spec.template.spec.nodeName === undefined) yield "Job: pods bound late";
  yield `Job: podReplacementPolicy ${spec.podReplacementPolicy ?? "by default"}`;
  const rules = spec.podFailurePolicy?.rules;
  if (rules?.length === 0) yield "Job: podFailurePolicy without rules";
  yield* new Set(
    rules?.map(
      (rule) =>
        `Job: podFailurePolicy ${rule.action} on ${rule.onExitCodes ? rule.onExitCodes.operator : "conditions"}`,
    ),
  );
}

function* editFeatures(steps: readonly Step[]): Generator<string> {
  for (const step of steps) {
    if (step.do === "restart-controllers") yield* editFeatures(step.meanwhile);
    if (step.do === "edit")
      yield `edit: ${"completions" in step.spec ? "elastic completions" : Object.keys(step.spec).join()}`;
    if ("finish" in step && step.finish !== "past")
      yield `back-off: ${step.finish === "now" ? "waited for" : "acted in"}`;
  }
}

export function coverageTable(features: readonly string[][]): string {
  const counts = new Map<string, number>();
  for (const feature of features.flat()) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const rows = [...counts].sort(([a], [b]) => a.localeCompare(b));
  const width = Math.max(...rows.map(([feature]) => feature.length));
  return rows.map(([feature, count]) => `${feature.padEnd(width)} ${String(count).padStart(5)}`).join("\n");
}

/** What the fixed run must show whatever its seeds are: every reason that a Job can end with, and pods that restart in place. */
export const ESSENTIAL: readonly string[] = [
  "Job: OnFailure",
  "Job: podFailurePolicy FailJob on In",
  "Job: podFailurePolicy FailJob on conditions",
  "Job: podFailurePolicy FailIndex on In",
  "step: restart",
  "condition: Complete=True CompletionsReached",
  "condition: Complete=True SuccessPolicy",
  "condition: Failed=True BackoffLimitExceeded",
  "condition: Failed=True DeadlineExceeded",
  "condition: Failed=True FailedIndexes",
  "condition: Failed=True MaxFailedIndexesExceeded",
  "condition: Failed=True PodFailurePolicy",
];
