import type { Job } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod, at, type PodBuilder } from "../testing/builders.ts";
import { passOver } from "../testing/pass.ts";
import { afterScale } from "./after-scale.ts";
import { nothingScaled } from "./counts.ts";
import { rules } from "./rules.ts";
import { planScale } from "./scale.ts";

/** What the executor reports for each pod that was to go, in order. */
type Fate = "deleted" | "failed" | "finalizer kept";

function scaled(job: Job, pods: PodBuilder[], { fates = [] as Fate[], notCreated = 0, satisfied = true } = {}) {
  const pass = passOver(job, pods, { satisfied });
  const plan = planScale(pass);
  const going = plan.kind === "remove" || plan.kind === "terminate" ? plan.pods : [];
  const removals = going.map((facts, position) => ({
    facts,
    deleted: (fates[position] ?? "deleted") === "deleted",
    finalizerKept: fates[position] === "finalizer kept",
  }));
  return afterScale(rules, pass, plan, { removals, notCreated });
}

describe("counters", () => {
  const job = aJob().spec({ parallelism: 5, completions: 9 }).build();
  const ready = (count: number) => Array.from({ length: count }, () => aPod(job).ready());

  it("CT-11 counts the pods that this sync created", () => {
    expect(scaled(job, ready(2))).toMatchObject({ active: 5, ready: 2, terminating: 0 });
    expect(scaled(job, ready(2), { notCreated: 2 })).toMatchObject({ active: 3 });
  });

  it("CT-12, CT-13 counts the pods that this sync deleted as terminating", () =>
    expect(scaled(job, ready(7))).toMatchObject({ active: 5, ready: 5, terminating: 2 }));

  it("CT-13 a failed delete takes the pod from ready only", () =>
    expect(scaled(job, ready(7), { fates: ["deleted", "failed"] })).toMatchObject({
      active: 6,
      ready: 5,
      terminating: 1,
    }));

  it("CT-13 a pod that kept its finalizer stays ready", () =>
    expect(scaled(job, ready(7), { fates: ["deleted", "finalizer kept"] })).toMatchObject({
      active: 6,
      ready: 6,
      terminating: 1,
    }));

  it("CT-15 reports running pods while a replacement waits for its back-off", () =>
    expect(scaled(job, [...ready(3), aPod(job).failed({ finished: 0 })])).toMatchObject({ active: 3, ready: 3 }));
});

describe("S-13 a write is needed", () => {
  const stored = { startTime: at(-9), active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {} };
  const job = aJob().status(stored).build();

  it.each([
    ["nothing changed", job, [aPod(job)], false],
    ["active", job, [aPod(job).succeeded()], true],
    ["ready", job, [aPod(job).ready()], true],
    ["null is not 0", aJob().status({ active: 1, ready: 0 }).build(), [aPod(job)], true],
  ])("%s", (_, subject, pods, want) => expect(scaled(subject, pods).changed).toBe(want));

  it("not for startTime alone", () => {
    const { startTime: _, ...rest } = stored;
    expect(scaled(aJob().status(rest).build(), [aPod(job)]).changed).toBe(false);
  });
});

describe("outcome", () => {
  const failing = aJob().spec({ backoffLimit: 0, parallelism: 2, completions: 2 }).build();
  const pods = [aPod(failing).failed(), aPod(failing).phase("Running")];

  it("S-10 survives when every pod was deleted", () =>
    expect(scaled(failing, pods).outcome?.reason).toBe("BackoffLimitExceeded"));

  it("S-10 is dropped when a delete failed, or expectations were open", () => {
    expect(scaled(failing, pods, { fates: ["failed"] }).outcome).toBeUndefined();
    expect(scaled(failing, pods, { satisfied: false }).outcome).toBeUndefined();
  });

  it("S-12 completion is found also while expectations are open", () => {
    const job = aJob().build();
    expect(scaled(job, [aPod(job).succeeded()], { satisfied: false }).outcome?.reason).toBe("CompletionsReached");
  });

  it("SU-6 completion wins over suspension", () => {
    const job = aJob().spec({ suspend: true, completions: 0 }).build();
    const { outcome, events } = scaled(job, []);
    expect(outcome?.reason).toBe("CompletionsReached");
    expect(events).toEqual([]);
  });
});

describe("SU-5 the Suspended condition", () => {
  const job = aJob().spec({ suspend: true }).build();

  it("follows a scale step, even one that failed in part (SU-4)", () => {
    const { status, events, changed } = scaled(job, [aPod(job).ready()], { fates: ["failed"] });
    expect(status.conditions).toMatchObject([{ type: "Suspended", status: "True" }]);
    expect(events.map(({ reason }) => reason)).toEqual(["Suspended"]);
    expect(changed).toBe(true);
  });

  it("is left alone while expectations are open or the Job is being deleted", () => {
    expect(scaled(job, [], { satisfied: false }).status.conditions).toBeUndefined();
    expect(scaled(aJob().spec({ suspend: true }).deleting().build(), []).status.conditions).toBeUndefined();
  });
});

it("a plan that waits changes no counter", () => {
  const job = aJob().build();
  const pass = passOver(job, [aPod(job).failed({ finished: 0 })]);
  expect(afterScale(rules, pass, planScale(pass), nothingScaled)).toMatchObject({ active: 0, terminating: 0 });
});
