import { describe, expect, test } from "vitest";
import { prepareJobForCreate } from "../job-strategy.ts";
import { validateJobCreate } from "./job.ts";
import { complaints, container, decodedJob, indexed, perIndex, podSpec } from "./testing/job-cases.ts";

const long = (length: number): string => "a".repeat(length);

const createErrors = (spec: object, metadata: object = {}): string[] =>
  complaints(validateJobCreate(prepareJobForCreate(decodedJob(spec, metadata))));

const many = { ...perIndex, completions: 100_001, maxFailedIndexes: 10_000, parallelism: 10_000 };
const rule = (fields: object) => ({ podFailurePolicy: { rules: [fields] } });
const exitCodes = (fields: object) =>
  rule({ action: "FailJob", onExitCodes: { operator: "In", values: [1], ...fields } });
const success = (...rules: object[]) => ({ ...indexed, successPolicy: { rules } });
const PFP = "spec.podFailurePolicy.rules";
const RULES = "spec.successPolicy.rules";
const RESTART = "spec.template.spec.restartPolicy";

describe("valid Jobs", () => {
  const cases: [string, object][] = [
    ["plain", {}],
    ["Indexed", indexed],
    [
      "everything zero",
      { parallelism: 0, completions: 0, backoffLimit: 0, activeDeadlineSeconds: 0, ttlSecondsAfterFinished: 0 },
    ],
    ["K-32 at its limits", many],
    [
      "K-33 at its limits",
      { podFailurePolicy: { rules: new Array(20).fill({ action: "Ignore", onPodConditions: [{ type: "x/Y" }] }) } },
    ],
    ["PF-17 empty failure policy", { podFailurePolicy: { rules: [] } }],
    [
      "FailIndex with BLPI",
      { ...perIndex, ...rule({ action: "FailIndex", onExitCodes: { operator: "NotIn", values: [0, 1] } }) },
    ],
    ["VC-51 empty succeededIndexes, zero count", success({ succeededIndexes: "" }, { succeededCount: 0 })],
    ["K-35 longest managedBy", { managedBy: `x.io/${long(58)}` }],
  ];
  test.each(cases)("%s", (_name, spec) => {
    expect(createErrors(spec)).toEqual([]);
  });
});

describe("create (section 27)", () => {
  const cases: [string, object, string[]][] = [
    [
      "VC-8",
      { parallelism: -1, completions: -1, activeDeadlineSeconds: -1 },
      ["spec.activeDeadlineSeconds Invalid", "spec.completions Invalid", "spec.parallelism Invalid"],
    ],
    [
      "VC-8",
      { backoffLimit: -1, ttlSecondsAfterFinished: -1 },
      ["spec.backoffLimit Invalid", "spec.ttlSecondsAfterFinished Invalid"],
    ],
    ["VC-9", { ...indexed, maxFailedIndexes: 1 }, ["spec.backoffLimitPerIndex Required"]],
    ["VC-10", { managedBy: "" }, ["spec.managedBy Required"]],
    ["VC-11", { managedBy: "noslash" }, ["spec.managedBy Invalid"]],
    ["VC-11", { managedBy: "X.io/y" }, ["spec.managedBy Invalid"]],
    ["VC-11", { managedBy: "x.io/a b" }, ["spec.managedBy Invalid"]],
    ["VC-12", { managedBy: `x.io/${long(59)}` }, ["spec.managedBy TooLong"]],
    ["VC-13", { completionMode: "Other" }, ["spec.completionMode NotSupported"]],
    ["VC-14", { completionMode: "Indexed", parallelism: 1 }, ["spec.completions Required"]],
    ["VC-15", { ...indexed, parallelism: 100_001 }, ["spec.parallelism Invalid"]],
    ["VC-16", { ...perIndex, maxFailedIndexes: 4 }, ["spec.maxFailedIndexes Invalid"]],
    [
      "VC-17",
      { ...many, completions: 100_000, maxFailedIndexes: 100_001 },
      ["spec.maxFailedIndexes Invalid", "spec.maxFailedIndexes Invalid"],
    ],
    ["VC-18", { ...many, maxFailedIndexes: null }, ["spec.maxFailedIndexes Required"]],
    ["VC-19", { ...many, parallelism: 10_001 }, ["spec.parallelism Invalid"]],
    ["VC-20", { ...many, maxFailedIndexes: 10_001 }, ["spec.maxFailedIndexes Invalid"]],
    [
      "VC-21, VC-22",
      { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      ["spec.backoffLimitPerIndex Invalid", "spec.maxFailedIndexes Invalid"],
    ],
    [
      "VC-23",
      { podFailurePolicy: { rules: new Array(21).fill({ action: "Ignore", onPodConditions: [{ type: "x/Y" }] }) } },
      [`${PFP} TooMany`],
    ],
    ["VC-24", rule({ onPodConditions: [{ type: "X" }] }), [`${PFP}[0].action Required`]],
    ["VC-25", rule({ action: "FailIndex", onPodConditions: [{ type: "X" }] }), [`${PFP}[0].action Invalid`]],
    ["VC-26", rule({ action: "Nope", onPodConditions: [{ type: "X" }] }), [`${PFP}[0].action NotSupported`]],
    ["VC-27 none", rule({ action: "Count" }), [`${PFP}[0] Invalid`]],
    [
      "VC-27 both",
      rule({ action: "Count", onPodConditions: [{ type: "X" }], onExitCodes: { operator: "In", values: [1] } }),
      [`${PFP}[0] Invalid`],
    ],
    ["VC-28", exitCodes({ operator: "" }), [`${PFP}[0].onExitCodes.operator Required`]],
    ["VC-28", exitCodes({ operator: "Near" }), [`${PFP}[0].onExitCodes.operator NotSupported`]],
    ["VC-29", exitCodes({ containerName: "nobody" }), [`${PFP}[0].onExitCodes.containerName Invalid`]],
    ["VC-30", exitCodes({ values: [] }), [`${PFP}[0].onExitCodes.values Invalid`]],
    [
      "VC-30",
      exitCodes({ values: Array.from({ length: 256 }, (_, i) => i + 1) }),
      [`${PFP}[0].onExitCodes.values TooMany`],
    ],
    ["VC-31", exitCodes({ values: [0, 1] }), [`${PFP}[0].onExitCodes.values[0] Invalid`]],
    ["VC-32", exitCodes({ values: [1, 1] }), [`${PFP}[0].onExitCodes.values[1] Duplicate`]],
    ["VC-33", exitCodes({ values: [2, 1] }), [`${PFP}[0].onExitCodes.values Invalid`]],
    [
      "VC-34",
      rule({ action: "Count", onPodConditions: new Array(21).fill({ type: "X" }) }),
      [`${PFP}[0].onPodConditions TooMany`],
    ],
    [
      "VC-35",
      rule({ action: "Count", onPodConditions: [{ type: "a b" }] }),
      [`${PFP}[0].onPodConditions[0].type Invalid`],
    ],
    [
      "VC-36",
      rule({ action: "Count", onPodConditions: [{ type: "X", status: "Maybe" }] }),
      [`${PFP}[0].onPodConditions[0].status NotSupported`],
    ],
    ["VC-37", { successPolicy: { rules: [] } }, ["spec.successPolicy Invalid"]],
    ["VC-38", success(), [`${RULES} Required`]],
    ["VC-38", success(...new Array(21).fill({ succeededCount: 1 })), [`${RULES} TooMany`]],
    ["VC-39", success({}), [`${RULES}[0] Required`]],
    [
      "VC-40, VC-41",
      success({ succeededIndexes: "0".repeat(65_537).concat(",0") }),
      [`${RULES}[0].succeededIndexes Invalid`, `${RULES}[0].succeededIndexes TooLong`],
    ],
    ["VC-41", success({ succeededIndexes: "1,0" }), [`${RULES}[0].succeededIndexes Invalid`]],
    ["VC-41", success({ succeededIndexes: "3" }), [`${RULES}[0].succeededIndexes Invalid`]],
    ["VC-42", success({ succeededCount: -1 }), [`${RULES}[0].succeededCount Invalid`]],
    ["VC-42", success({ succeededCount: 4 }), [`${RULES}[0].succeededCount Invalid`]],
    ["VC-42", success({ succeededIndexes: "0,1", succeededCount: 3 }), [`${RULES}[0].succeededCount Invalid`]],
    ["VC-43", { podReplacementPolicy: "Other" }, ["spec.podReplacementPolicy NotSupported"]],
    [
      "VC-43",
      { podReplacementPolicy: "TerminatingOrFailed", podFailurePolicy: { rules: [] } },
      ["spec.podReplacementPolicy NotSupported"],
    ],
    [
      "VC-44",
      { template: { metadata: { labels: { "a b": "x" } }, spec: podSpec } },
      ["metadata.labels Invalid", "spec.template.labels Invalid"],
    ],
    ["VC-45", { template: { spec: { containers: [container] } } }, [`${RESTART} Required`]],
    [
      "VC-46",
      { template: { spec: { ...podSpec, restartPolicy: "Odd" } } },
      [`${RESTART} NotSupported`, `${RESTART} NotSupported`],
    ],
    [
      "VC-47",
      { podFailurePolicy: { rules: [] }, template: { spec: { ...podSpec, restartPolicy: "OnFailure" } } },
      [`${RESTART} Invalid`],
    ],
  ];
  test.each(cases)("%s %j", (_id, spec, want) => {
    expect(createErrors(spec)).toEqual(want);
  });
});

describe("metadata and selector on create", () => {
  const label = (key: string) => `spec.template.metadata.labels[${key}]`;
  const labelled = (labels: object) => ({ template: { metadata: { labels }, spec: podSpec } });
  const cases: [string, object, object, string[]][] = [
    ["VC-1 name", {}, { name: "Bad" }, ["metadata.name Invalid"]],
    ["VC-1 namespace", {}, { namespace: null }, ["metadata.namespace Required"]],
    ["VC-2", {}, { uid: null }, ["metadata.uid Required"]],
    ["VC-3 wrong", labelled({ "job-name": "x" }), { labels: { a: "b" } }, [`${label("job-name")} Invalid`]],
    [
      "VC-3, VC-7",
      labelled({ "batch.kubernetes.io/controller-uid": "x" }),
      { labels: { a: "b" } },
      ["spec.template.metadata.labels Invalid", `${label("batch.kubernetes.io/controller-uid")} Invalid`],
    ],
    [
      "VC-4, VC-7",
      { selector: { matchLabels: { a: "b" } } },
      {},
      ["spec.selector Invalid", "spec.template.metadata.labels Invalid"],
    ],
    ["VC-5, VC-7", { manualSelector: true }, {}, ["spec.selector Required", "spec.template.metadata.labels Invalid"]],
    [
      "VC-6",
      { manualSelector: true, selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
      {},
      ["spec.selector.matchExpressions[0].values Required"],
    ],
    ["VC-48", indexed, { name: long(62) }, ["metadata.name Invalid"]],
    ["VC-48 dots", indexed, { name: "a.b" }, ["metadata.name Invalid"]],
    ["VC-50", {}, { name: long(64) }, ["spec.template.labels Invalid", "spec.template.labels Invalid"]],
    ["VC-1 finalizers", {}, { finalizers: ["plain"] }, ["metadata.finalizers[0] Invalid"]],
  ];
  test.each(cases)("%s", (_id, spec, metadata, want) => {
    expect(createErrors(spec, metadata)).toEqual(want);
  });
});
