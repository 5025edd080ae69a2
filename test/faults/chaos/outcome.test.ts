import type { Job } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { type Planned, problemsOf, type SeenPod } from "./outcome.ts";

const planned = (over: Partial<Planned> = {}): Planned => ({ name: "j", kind: "indexed", completions: 2, ...over });
const job = (type: "Complete" | "Failed", counts: object, epoch = "1", finalizers: string[] = []): Job =>
  ({
    metadata: { name: "j", finalizers, annotations: { "jobferry.dev/epoch": epoch } },
    spec: {},
    status: { conditions: [{ type, status: "True" }], ...counts },
  }) as unknown as Job;
const done = (...indexes: number[]): SeenPod[] => indexes.map((index) => ({ index, phase: "Succeeded" }));
const well = job("Complete", { succeeded: 2 });

describe("the outcome of a Job in the midst of faults", () => {
  it.each<[string, Planned, Job | undefined, SeenPod[], RegExp | undefined]>([
    ["is right", planned(), well, done(0, 1), undefined],
    ["is wrong when it is gone", planned(), undefined, done(0, 1), /is gone/],
    ["is wrong when it failed", planned(), job("Failed", { failed: 1 }), done(0), /is not complete/],
    [
      "is wrong when it counts a failure",
      planned(),
      job("Complete", { succeeded: 2, failed: 1 }),
      done(0, 1),
      /1 failed/,
    ],
    ["is wrong when a pod ran twice", planned(), well, done(0, 1, 1), /3 pods succeeded, not 2/],
    [
      "is wrong when a pod too many was made",
      planned(),
      well,
      [...done(0, 1), { index: 0, phase: "Running" }],
      /3 pods/,
    ],
    ["may have more pods after a move", planned(), job("Complete", { succeeded: 2 }, "2"), done(0, 1, 1), undefined],
    [
      "is wrong after a move without enough of them",
      planned(),
      job("Complete", { succeeded: 2 }, "2"),
      done(0),
      /1 pods/,
    ],
    [
      "is wrong with our finalizer",
      planned(),
      job("Complete", { succeeded: 2 }, "1", ["jobferry.dev/withdraw"]),
      done(0, 1),
      /keeps our/,
    ],
    ["is that it is gone, when it was deleted", planned({ kind: "deleted" }), undefined, [], undefined],
    ["is wrong when a deletion hangs", planned({ kind: "deleted" }), well, done(0, 1), /still there/],
    [
      "is a failure, when it was to fail",
      planned({ kind: "failing" }),
      job("Failed", { failed: 1 }),
      [{ index: 0, phase: "Failed" }],
      undefined,
    ],
    [
      "is wrong when what was to fail failed twice",
      planned({ kind: "failing" }),
      job("Failed", { failed: 2 }),
      [{ index: 0, phase: "Failed" }],
      /2 failed/,
    ],
  ])("%s", (_, plan, found, pods, wrong) => {
    const problems = problemsOf(plan, found, pods).join("; ");
    if (wrong === undefined) expect(problems).toBe("");
    else expect(problems).toMatch(wrong);
  });
});
