import { expect, it } from "vitest";
import { aJob, aPod, at, NOW } from "../testing/builders.ts";
import { passOver } from "../testing/pass.ts";

const job = aJob().spec({ parallelism: 9, completions: 9 }).build();

it("CT-1 to CT-3 counts active, ready and terminating pods, tracked or not", () => {
  const pods = [
    aPod(job).phase("Running"),
    aPod(job).ready(),
    aPod(job).ready().untracked(),
    aPod(job).ready().deleting(),
    aPod(job).failed().deleting(),
    aPod(job).succeeded(),
  ];
  const { active, ready, terminating } = passOver(job, pods);
  expect({ active: active.length, ready, terminating }).toEqual({ active: 3, ready: 2, terminating: 1 });
});

it("CT-7, CT-8 adds new and uncounted pods to the counters", () => {
  const counted = aJob()
    .spec({ completions: 9 })
    .status({ succeeded: 3, failed: 2, uncountedTerminatedPods: { succeeded: ["x", "y"], failed: ["z"] } })
    .build();
  const { succeeded, failed } = passOver(counted, [aPod(counted).succeeded(), aPod(counted).failed()]);
  expect({ succeeded, failed }).toEqual({ succeeded: 6, failed: 4 });
});

it("CT-8 leaves out failures that the policy ignores; BO-2 they delay all the same", () => {
  const rules = [{ action: "Ignore" as const, onExitCodes: { operator: "In" as const, values: [42] } }];
  const choosy = aJob().spec({ podFailurePolicy: { rules } }).build();
  const pass = passOver(choosy, [aPod(choosy).failed({ exitCode: 42 })]);
  expect(pass.failed).toBe(0);
  expect(pass.backoff.failures).toBe(1);
});

it("CT-9 an Indexed Job has as many successes as succeeded indexes, whatever the counter says", () => {
  const indexed = aJob().indexed(5).status({ succeeded: 4, completedIndexes: "0,1" }).build();
  expect(passOver(indexed, [aPod(indexed).index(1).succeeded()]).succeeded).toBe(2);
});

it("S-1, S-6 starts with an empty ledger and a start time, unless suspended", () => {
  expect(passOver(job).status).toEqual({ uncountedTerminatedPods: {}, startTime: at(0) });
  expect(passOver(aJob().spec({ suspend: true }).build()).status).toEqual({ uncountedTerminatedPods: {} });
  expect(
    passOver(
      aJob()
        .status({ startTime: at(-5) })
        .build(),
    ).status.startTime,
  ).toBe(at(-5));
});

it("SW-9 start times have whole seconds", () =>
  expect(passOver(job, [], { now: NOW + 789 }).status.startTime).toBe(at(0)));

it("S-8.6 knows the deadline only while the outcome is open", () => {
  const limited = (seconds: number) => aJob().spec({ activeDeadlineSeconds: seconds }).build();
  expect(passOver(limited(7)).deadlineInMs).toBe(7000);
  expect(passOver(limited(0)).deadlineInMs).toBeUndefined();
});
