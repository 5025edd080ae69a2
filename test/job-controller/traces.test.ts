/** The worked traces of section 20.1: which writes, in which order, with which fields; nothing besides. */
import { INDEX_FAILURE_COUNT } from "@jobferry/shared/job/keys.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await new Rig().start();
});
afterEach(() => rig.stop());

const started = (pods: number) => `W{startTime, active ${pods}, ready 0, terminating 0, uncounted {}}`;

it("TR-1 one pod succeeds", async () => {
  await rig.submit();
  expect(rig.written()).toEqual(["create a", started(1)]);
  await rig.ready("a");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual(["W{ready 1}"]);
  await rig.succeed("a");
  expect(rig.written()).toEqual([
    "W{active 0, ready 0, uncounted.succeeded [a], SCM CompletionsReached}",
    "P a",
    "W{succeeded 1, uncounted {}, Complete, completionTime}",
  ]);
  await rig.clock.advance(10_000);
  expect(rig.written()).toEqual([]);
});

it("TR-1 a pod that finishes at once costs three status writes and no waiting", async () => {
  await rig.submit();
  await rig.ready("a");
  await rig.succeed("a");
  expect(rig.written()).toEqual([
    "create a",
    started(1),
    "W{active 0, uncounted.succeeded [a], SCM CompletionsReached}",
    "P a",
    "W{succeeded 1, uncounted {}, Complete, completionTime}",
  ]);
});

it("TR-2 the same, Indexed", async () => {
  await rig.submit({ completionMode: "Indexed", completions: 1 });
  await rig.ready("a");
  await rig.succeed("a");
  expect(rig.written().slice(2)).toEqual([
    'W{active 0, succeeded 1, completedIndexes "0", SCM CompletionsReached}',
    "P a",
    "W{Complete, completionTime}",
  ]);
});

it("TR-3 backoffLimit 0, one of two pods fails", async () => {
  await rig.submit({ backoffLimit: 0, parallelism: 2, completions: 2 });
  await rig.ready("a", "b");
  await rig.clock.advance(1000);
  rig.written();
  await rig.fail("a");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual([
    "delete b",
    "W{active 0, ready 0, terminating 1, uncounted.failed [a,b], FT BackoffLimitExceeded}",
    "P a",
    "P b",
    "W{failed 2, uncounted {}}",
  ]);
  await rig.vanish("b");
  expect(rig.written()).toEqual(["W{terminating 0}", "W{Failed}"]);
});

it("TR-4 a user deletes a running pod, TerminatingOrFailed", async () => {
  await rig.submit();
  await rig.ready("a");
  await rig.clock.advance(1000);
  rig.written();
  await rig.delete("a");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual([
    "W{active 0, ready 0, terminating 1, uncounted.failed [a]}",
    "P a",
    "W{failed 1, uncounted {}}",
  ]);
  await rig.clock.advance(8900);
  expect(rig.written()).toEqual([]);
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual(["create b", "W{active 1}"]);
  await rig.vanish("a");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual(["W{terminating 0}"]);
});

it("TR-5 the same with podReplacementPolicy Failed", async () => {
  await rig.submit({ podReplacementPolicy: "Failed" });
  await rig.ready("a");
  await rig.clock.advance(1000);
  rig.written();
  await rig.delete("a");
  await rig.clock.advance(20_000);
  expect(rig.written()).toEqual(["W{active 0, ready 0, terminating 1}"]);
  await rig.fail("a");
  await rig.clock.advance(50);
  expect(rig.written()).toEqual(["W{terminating 0, uncounted.failed [a]}", "P a", "W{failed 1, uncounted {}}"]);
  await rig.clock.advance(10_000);
  expect(rig.written()).toEqual(["create b", "W{active 1}"]);
});

it("TR-6 suspend with two ready pods, and resume", async () => {
  await rig.submit({ parallelism: 2, completions: 2 });
  await rig.ready("a", "b");
  await rig.clock.advance(1000);
  rig.written();
  await rig.editJob({ suspend: true });
  const suspended = rig.written();
  expect(suspended.slice(0, 4).toSorted()).toEqual(["P a", "P b", "delete a", "delete b"]);
  expect(suspended.slice(4)).toEqual(["W{startTime null, active 0, ready 0, terminating 2, Suspended True}"]);
  await rig.vanish("a", "b");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual(["W{terminating 0}"]);
  await rig.clock.advance(60_000);
  await rig.editJob({ suspend: false });
  expect(rig.written()).toEqual(["create c", "create d", "W{startTime, active 2, Suspended False}"]);
});

it("TR-7 backoffLimitPerIndex 1, index 0 fails twice", async () => {
  await rig.submit({
    completionMode: "Indexed",
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 1,
    backoffLimit: 2_147_483_647,
  });
  expect(rig.written().slice(2)).toEqual([
    'W{startTime, active 2, ready 0, terminating 0, failedIndexes "", uncounted {}}',
  ]);
  await rig.fail("a");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual(["W{active 1}"]);
  await rig.clock.advance(9000);
  expect(rig.written()).toEqual(["create c", "W{active 2}"]);
  const replacement = (await rig.pods()).find((pod) => pod.metadata.annotations?.[INDEX_FAILURE_COUNT] === "1");
  expect(replacement?.spec.hostname).toBe("job-0");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual(["W{uncounted.failed [a]}", "P a", "W{failed 1, uncounted {}}"]);
  await rig.fail("c");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual([
    'W{active 1, failedIndexes "0", uncounted.failed [c]}',
    "P c",
    "W{failed 2, uncounted {}}",
  ]);
  await rig.succeed("b");
  expect(rig.written()).toEqual([
    'W{active 0, succeeded 1, completedIndexes "1", FT FailedIndexes}',
    "P b",
    "W{Failed}",
  ]);
});

it("TR-8 a success policy ends the Job early", async () => {
  await rig.submit({
    completionMode: "Indexed",
    completions: 3,
    parallelism: 3,
    successPolicy: { rules: [{ succeededIndexes: "0" }] },
  });
  await rig.ready("b", "c");
  await rig.clock.advance(1000);
  rig.written();
  await rig.succeed("a");
  await rig.clock.advance(1000);
  expect(rig.written()).toEqual([
    "delete b",
    "delete c",
    'W{active 0, ready 0, terminating 2, succeeded 1, completedIndexes "0", SCM SuccessPolicy}',
    "P a",
    "P b",
    "P c",
  ]);
  await rig.vanish("b", "c");
  expect(rig.written()).toEqual(["W{terminating 0}", "W{Complete, completionTime}"]);
  expect((await rig.job()).status?.failed).toBeUndefined();
});

it("TR-9 completions 0", async () => {
  await rig.submit({ completions: 0 });
  expect(rig.written()).toEqual([
    "W{startTime, ready 0, terminating 0, uncounted {}, SCM CompletionsReached}",
    "W{Complete, completionTime}",
  ]);
});

it("TR-9 completions 0, suspended", async () => {
  await rig.submit({ completions: 0, suspend: true });
  expect(rig.written()).toEqual([
    "W{ready 0, terminating 0, uncounted {}, SCM CompletionsReached}",
    "W{Complete, completionTime}",
  ]);
});
