/** Many Jobs that begin at once: pods first, and fewer writes (starts.ts). */
import { expect, it } from "vitest";
import { Rig } from "./rig.ts";

/** As if more Jobs had begun just before. */
const inFlood = (): Promise<Rig> => new Rig({ limits: { floodStarts: 0 } }).start();

it("a Job whose pod ends soon has begin and end written at once", async () => {
  const rig = await inFlood();
  await rig.submit();
  const began = rig.clock.now();
  expect(rig.written()).toEqual(["create a"]);
  await rig.clock.advance(300);
  await rig.ready("a");
  await rig.succeed("a");
  expect(rig.written()).toEqual([
    "W{startTime, ready 0, terminating 0, uncounted.succeeded [a], SCM CompletionsReached}",
    "P a",
    "W{succeeded 1, uncounted {}, Complete, completionTime}",
  ]);
  const { startTime = "" } = (await rig.job()).status ?? {};
  expect(Date.parse(startTime)).toBe(Math.floor(began / 1000) * 1000);
  await rig.clock.advance(10_000);
  expect(rig.written()).toEqual([]);
  await rig.stop();
});

it("a Job that runs on is shown after a batch, with the time of its begin", async () => {
  const rig = await inFlood();
  await rig.submit();
  const began = rig.clock.now();
  await rig.clock.advance(999);
  expect(rig.written()).toEqual(["create a"]);
  await rig.clock.advance(1);
  expect(rig.written()).toEqual(["W{startTime, active 1, ready 0, terminating 0, uncounted {}}"]);
  const { startTime = "" } = (await rig.job()).status ?? {};
  expect(Date.parse(startTime)).toBe(Math.floor(began / 1000) * 1000);
  await rig.stop();
});

it.each([
  ["has a deadline", { activeDeadlineSeconds: 60 }],
  ["is suspended", { suspend: true }],
])("a Job that %s is written at once", async (_, spec) => {
  const rig = await inFlood();
  await rig.submit(spec);
  expect(rig.written().filter((line) => line.startsWith("W{"))).toHaveLength(1);
  await rig.stop();
});

it("a Job that is suspended and resumed before its begin was written begins when it is resumed", async () => {
  const rig = await inFlood();
  await rig.submit();
  await rig.editJob({ suspend: true });
  const suspended = rig.written().at(-1);
  expect(suspended).toContain("Suspended");
  expect(suspended).not.toContain("startTime");
  await rig.clock.advance(5_000);
  const resumed = rig.clock.now();
  await rig.editJob({ suspend: false });
  const { startTime = "" } = (await rig.job()).status ?? {};
  expect(Date.parse(startTime)).toBe(Math.floor(resumed / 1000) * 1000);
  await rig.stop();
});

it("a successor after a crash goes on with the Job and its pod", async () => {
  const rig = await inFlood();
  await rig.submit();
  rig.crash();
  await rig.start();
  await rig.ready("a");
  await rig.succeed("a");
  await rig.clock.advance(2_000);
  expect(rig.written().filter((line) => line.startsWith("create"))).toEqual(["create a"]);
  expect((await rig.job()).status).toMatchObject({ succeeded: 1 });
  await rig.stop();
});

it("a pod that ended while nobody looked is accounted at once", async () => {
  const rig = await inFlood();
  await rig.submit({ completions: 2, parallelism: 1 });
  rig.crash();
  await rig.ready("a");
  await rig.succeed("a");
  await rig.start();
  await rig.clock.advance(0);
  expect(rig.written()).toContain("P a");
  await rig.stop();
});

it("Jobs that come one by one are written at once", async () => {
  const rig = await new Rig().start();
  await rig.submit();
  expect(rig.written()).toEqual(["create a", "W{startTime, active 1, ready 0, terminating 0, uncounted {}}"]);
  await rig.stop();
});
