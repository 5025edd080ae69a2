/**
 * Values worth trying, by field. Valid, borderline, wrong, absent (undefined), null and of the wrong type: which is which
 * is for the API server to say.
 */
import { type FieldChoices, long } from "./choices.ts";
import { FAILURE_RULES, POLICY_FIELDS, SUCCESS_RULES } from "./policy-fields.ts";

const counts = [
  0,
  1,
  3,
  -1,
  10_000,
  10_001,
  100_000,
  100_001,
  2_147_483_647,
  2_147_483_648,
  null,
  undefined,
  "3",
  1.5,
] as const;
const names = ["ok", "a.b", "A", "", "-a", "a_b", long(63), long(64), long(253), long(254), null, 7] as const;
const labelMaps = [
  { a: "b" },
  { "x.io/a": "" },
  { "bad key": "b" },
  { "/a": "b" },
  { a: "bad value" },
  { a: long(64) },
  { [long(64)]: "b" },
  { "": "x" },
  {},
  null,
  { a: 1 },
  { a: null },
] as const;

const METADATA: FieldChoices[] = [
  ["metadata.name", [...names, "ends-", undefined]],
  ["metadata.generateName", ["gen-", "Gen-", "g", "", "x_"]],
  ["metadata.labels", labelMaps],
  [
    "metadata.annotations",
    [...labelMaps, { "Upper.Case/Key": "x" }, { big: "x".repeat(262_143) }, { big: "x".repeat(262_142) }],
  ],
  [
    "metadata.finalizers",
    [["example.com/x"], ["plain"], ["orphan"], ["orphan", "foregroundDeletion"], ["a b/c"], [""], []],
  ],
  [
    "metadata.ownerReferences",
    [
      [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }],
      [{ apiVersion: "", kind: "", name: "", uid: "" }],
      [{ apiVersion: "v1", kind: "Event", name: "p", uid: "u" }],
      [{ apiVersion: "a/b/c", kind: "X", name: "p", uid: "u" }],
      [
        { apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true },
        { apiVersion: "v1", kind: "Pod", name: "q", uid: "w", controller: true },
      ],
    ],
  ],
];

const SPEC: FieldChoices[] = [
  ["spec.parallelism", counts],
  ["spec.completions", counts],
  ["spec.activeDeadlineSeconds", counts],
  ["spec.backoffLimit", counts],
  ["spec.backoffLimitPerIndex", counts],
  ["spec.maxFailedIndexes", counts],
  ["spec.ttlSecondsAfterFinished", counts],
  ["spec.suspend", [true, false, null, "true", undefined]],
  ["spec.completionMode", ["Indexed", "Indexed", "NonIndexed", "Other", "", null, undefined]],
  ["spec.podReplacementPolicy", ["Failed", "TerminatingOrFailed", "Other", "", null, undefined]],
  [
    "spec.managedBy",
    [
      "x.io/y",
      "kubernetes.io/job-controller",
      "",
      "noslash",
      "/x",
      "x/",
      "X.io/y",
      "x.io/a b",
      "x.io/a/b~!",
      `x.io/${long(58)}`,
      `x.io/${long(59)}`,
      null,
    ],
  ],
  ["spec.manualSelector", [true, false, null, undefined, 1]],
  [
    "spec.selector",
    [
      { matchLabels: { a: "b" } },
      { matchLabels: { "bad key": "b" } },
      { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] },
      { matchExpressions: [{ key: "a", operator: "In" }] },
      { matchExpressions: [{ key: "job-name", operator: "Exists" }] },
      { matchExpressions: [{ key: "job-name", operator: "Exists", values: ["x"] }] },
      { matchExpressions: [{ key: "a", operator: "Near", values: ["bad value"] }] },
      { matchLabels: { "batch.kubernetes.io/controller-uid": "wrong" } },
      {},
      null,
      [],
    ],
  ],
  [
    "spec.template.metadata.labels",
    [...labelMaps, { "job-name": "wrong" }, { "batch.kubernetes.io/controller-uid": "wrong" }],
  ],
  [
    "spec.template.metadata.annotations",
    [
      ...labelMaps,
      { "controller.kubernetes.io/pod-deletion-cost": "x" },
      { "controller.kubernetes.io/pod-deletion-cost": "-5" },
    ],
  ],
  ["spec.template.spec.restartPolicy", ["Never", "OnFailure", "OnFailure", "Always", "Sometimes", "", null, undefined]],
  [
    "spec.successPolicy",
    [
      { rules: [] },
      {},
      ...SUCCESS_RULES.map((rule) => ({ rules: [rule] })),
      { rules: new Array(21).fill({ succeededCount: 1 }) },
      null,
      [],
    ],
  ],
  [
    "spec.podFailurePolicy",
    [
      { rules: [] },
      {},
      ...FAILURE_RULES.map((rule) => ({ rules: [rule] })),
      { rules: new Array(21).fill(FAILURE_RULES[0]) },
      null,
    ],
  ],
  ...POLICY_FIELDS,
];

export const JOB_FIELDS: readonly FieldChoices[] = [...SPEC, ...SPEC, ...METADATA];
