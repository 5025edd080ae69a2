import { decodeJob } from "@jobferry/sandbox/kinds/decode.ts";
import { defaultJob } from "@jobferry/sandbox/kinds/defaulting/job.ts";
import { prepareJobForCreate } from "@jobferry/sandbox/kinds/job-strategy.ts";
import { validateJobCreate } from "@jobferry/sandbox/kinds/validation/job.ts";
import { describe, expect, test } from "vitest";
import { directedCases } from "./directed.ts";
import { generateCase } from "./generate-steps.ts";
import { describeCase, type Step } from "./script.ts";

const seeds = Array.from({ length: 500 }, (_, seed) => seed);
const cases = seeds.map(generateCase);
const share = (holds: (index: number) => boolean): number => seeds.filter(holds).length / seeds.length;

describe("generated cases", () => {
  test("a seed always gives the same case, and two seeds give two", () => {
    expect(cases.map(describeCase)).toEqual(seeds.map((seed) => describeCase(generateCase(seed))));
    expect(new Set(cases.map((play) => JSON.stringify([play.spec, play.steps]))).size).toBe(seeds.length);
  });

  test("every Job is valid, so that no case is spent on a refusal", () => {
    for (const { seed, spec } of [...cases, ...directedCases]) {
      const metadata = { name: "play", namespace: "default", uid: "6f3c9b0e" };
      const job = decodeJob({ apiVersion: "batch/v1", kind: "Job", metadata, spec });
      expect(validateJobCreate(prepareJobForCreate(defaultJob(job))), `seed ${seed}`).toEqual([]);
    }
  });

  test("every kind of Job comes often", () => {
    const spec = (index: number) => cases[index]?.spec ?? { template: { spec: { containers: [] } } };
    const shares = {
      nonIndexed: share((i) => spec(i).completionMode === "NonIndexed" && spec(i).completions !== undefined),
      workQueue: share((i) => spec(i).completions === undefined),
      perIndex: share((i) => spec(i).backoffLimitPerIndex !== undefined),
      failurePolicy: share((i) => spec(i).podFailurePolicy !== undefined),
      successPolicy: share((i) => spec(i).successPolicy !== undefined),
      onFailure: share((i) => spec(i).template.spec.restartPolicy === "OnFailure"),
      suspended: share((i) => spec(i).suspend === true),
      deadline: share((i) => spec(i).activeDeadlineSeconds !== undefined),
    };
    for (const [kind, part] of Object.entries(shares)) expect(part, kind).toBeGreaterThan(0.05);
  });

  test("every step comes, and controllers restart in one case of six or so", () => {
    const flat = (steps: readonly Step[]): string[] =>
      steps.flatMap((step) => [step.do, ...(step.do === "restart-controllers" ? flat(step.meanwhile) : [])]);
    const verbs = cases.map(({ steps }) => new Set(flat(steps)));
    for (const verb of new Set(verbs.flatMap((set) => [...set]))) {
      expect(
        share((i) => verbs[i]?.has(verb) ?? false),
        verb,
      ).toBeGreaterThan(0.01);
    }
    expect(new Set(verbs.flatMap((set) => [...set])).size).toBe(21);
    expect(share((i) => verbs[i]?.has("restart-controllers") ?? false)).toBeGreaterThan(0.12);
  });
});
