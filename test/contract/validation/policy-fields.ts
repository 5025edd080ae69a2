import type { FieldChoices } from "./choices.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

export const FAILURE_RULES = [
  { action: "FailJob", onExitCodes: { operator: "In", values: [1, 2] } },
  { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
  { action: "FailIndex", onExitCodes: { operator: "NotIn", values: [0, 1] } },
  { action: "Count", onPodConditions: [{ type: "bad type", status: "Maybe" }] },
  { action: "", onExitCodes: { operator: "", values: [] } },
  { action: "Restart", onExitCodes: { operator: "Near", values: [3, 2, 2, 0] } },
  { action: "FailJob" },
  { action: "FailJob", onPodConditions: [] },
  { onExitCodes: { operator: "In", values: [1] }, onPodConditions: [{ type: "Ready", status: "False" }] },
  { action: "FailJob", onExitCodes: { operator: "In", values: [0, 5] } },
  { action: "FailJob", onExitCodes: { containerName: "c", operator: "In", values: [5] } },
  { action: "FailJob", onExitCodes: { containerName: "nobody", operator: "In", values: [-5, 5] } },
  { action: "FailJob", onExitCodes: { operator: "NotIn", values: upTo(255) } },
  { action: "FailJob", onExitCodes: { operator: "NotIn", values: upTo(256) } },
  { action: "Ignore", onPodConditions: new Array(20).fill({ type: "x.io/Y", status: "True" }) },
  { action: "Ignore", onPodConditions: new Array(21).fill({ type: "x.io/Y", status: "" }) },
  { action: "FailJob", onExitCodes: { operator: "In", values: ["1"] } },
  { action: 1 },
] as const;

export const SUCCESS_RULES = [
  { succeededCount: 1 },
  { succeededIndexes: "0" },
  { succeededIndexes: "" },
  {},
  { succeededCount: -1 },
  { succeededCount: 1_000_000 },
  { succeededIndexes: "0-2", succeededCount: 2 },
  { succeededIndexes: "0,1", succeededCount: 3 },
  { succeededIndexes: "1,0" },
  { succeededIndexes: "0-" },
  { succeededIndexes: "x" },
  { succeededIndexes: "0-0" },
  { succeededIndexes: "+0,01" },
  { succeededIndexes: "1-2-3", succeededCount: 0 },
  { succeededIndexes: "9999999" },
  { succeededIndexes: "0".repeat(65_537) },
  { succeededIndexes: 5 },
] as const;

/** Single fields inside the policies, so that several rules meet. */
export const POLICY_FIELDS: FieldChoices[] = [
  ["spec.podFailurePolicy.rules[0]", FAILURE_RULES],
  ["spec.podFailurePolicy.rules[1]", FAILURE_RULES],
  ["spec.podFailurePolicy.rules[0].action", ["FailJob", "FailIndex", "Nope", ""]],
  ["spec.successPolicy.rules[0]", SUCCESS_RULES],
  ["spec.successPolicy.rules[1]", SUCCESS_RULES],
];
