/** The annotations of docs/extensions.md, and that nothing changes without them. */
import { events, jobs } from "@jobferry/shared/kube/resources.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Rig } from "./rig.ts";

const RANGES = "jobferry.dev/exit-code-ranges";
const CAP = "jobferry.dev/max-uncounted-seconds";

let rig: Rig;
beforeEach(async () => {
  rig = await new Rig().start();
});
afterEach(() => rig.stop());

async function warnings(): Promise<string[]> {
  await rig.clock.advance(5000);
  const { items } = await rig.api.list(events, { namespace: "default" });
  return items
    .filter(({ reason }) => reason === "InvalidAnnotation")
    .map(({ count, message }) => `${count}x ${message}`);
}

const annotate = (annotations: Record<string, string>) =>
  rig.api.patch(jobs, { namespace: "default", name: "job" }, { type: "merge", body: { metadata: { annotations } } });

describe("exit-code ranges", () => {
  const podFailurePolicy = {
    rules: [{ action: "FailJob" as const, onExitCodes: { operator: "In" as const, values: [42] } }],
  };
  /** The pod fails with exit code 1. */
  const reasonAfterFailure = async (annotations: Record<string, string>) => {
    await rig.submit({ podFailurePolicy }, annotations);
    await rig.fail("a");
    await rig.clock.advance(5000);
    return (await rig.job()).status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? [];
  };

  it("PF-11 a code within a range fails the Job", async () =>
    expect(await reasonAfterFailure({ [RANGES]: '{"0": "1-12"}' })).toEqual([
      "FailureTarget PodFailurePolicy",
      "Failed PodFailurePolicy",
    ]));

  it.each([
    ["without the annotation", {}],
    ["with one that is wrong", { [RANGES]: '{"0": "12-1"}' }],
    ["with a range elsewhere", { [RANGES]: '{"0": "2-12"}' }],
  ])("PF-3 the same failure is an ordinary one %s", async (_, annotations) => {
    expect(await reasonAfterFailure(annotations)).toEqual([]);
    expect((await rig.job()).status?.failed).toBe(1);
  });
});

describe("max-uncounted-seconds", () => {
  const accounted = "W{active 2, succeeded 1";

  /** Of a Job with three pods whose last sync is not long ago. */
  async function msUntilAccounted(annotations: Record<string, string>): Promise<number> {
    await rig.submit({ completionMode: "Indexed", completions: 3, parallelism: 3 }, annotations);
    await rig.clock.advance(2000);
    rig.written();
    await rig.succeed("a");
    const ended = rig.clock.now();
    await rig.clock.runUntil(() => rig.trace.some((line) => line.startsWith(accounted)), 10_000);
    return rig.clock.now() - ended;
  }

  it.each([
    ["as long as the cap says", { [CAP]: "0.2" }, 200],
    ["K-1 as long as the batch without a cap", {}, 1000],
    ["K-1 as long as the batch when the cap is wrong", { [CAP]: "0" }, 1000],
  ])("a pod that ended waits %s", async (_, annotations, want) =>
    expect(await msUntilAccounted(annotations)).toBe(want),
  );
});

it("a pod of a quiet Job is accounted soon", async () => {
  await rig.submit({ completionMode: "Indexed", completions: 3, parallelism: 3 });
  await rig.clock.advance(10_000);
  rig.written();
  await rig.succeed("a", "b");
  await rig.clock.advance(49);
  expect(rig.written()).toEqual([]);
  await rig.clock.advance(1);
  expect(rig.written()).toEqual(['W{active 1, succeeded 2, completedIndexes "0,1"}', "P a", "P b"]);
  await rig.clock.advance(10_000);
  expect(rig.written()).toEqual([]);
});

describe("annotations that are wrong", () => {
  it("are told once, however often the Job is synced", async () => {
    await rig.submit({ parallelism: 2, completions: 2 }, { [CAP]: "5" });
    await rig.ready("a");
    await rig.clock.advance(5000);
    await rig.succeed("a");
    expect(await warnings()).toEqual([
      '1x Ignored jobferry.dev/max-uncounted-seconds: its value is out of bounds or no number; write a number of seconds from 0.05 to 1 with at most three decimals, as "0.2"',
    ]);
  });

  it("are told again when they are wrong in another way", async () => {
    await rig.submit({ parallelism: 2, completions: 2 }, { [RANGES]: "x" });
    expect(await warnings()).toHaveLength(1);
    await annotate({ [RANGES]: '{"0": "1"}' });
    expect(await warnings()).toHaveLength(2);
  });

  it("are not told when they are right", async () => {
    await rig.submit({ parallelism: 2, completions: 2 }, { [CAP]: "0.5" });
    expect(await warnings()).toEqual([]);
  });
});
