import { jobs } from "@jobferry/shared/kube/resources.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cronJobs } from "./resources.ts";
import { VirtualControllers } from "./testing/virtual-controllers.ts";

let world: VirtualControllers;
beforeEach(async () => {
  world = await new VirtualControllers().start();
});
afterEach(() => world.stop());

const MINUTE = 60_000;
/** The virtual clock starts at midnight; the n-th minute after it. */
const run = (name: string, minute: number): string => `${name}-${Date.UTC(2026, 0, 1) / MINUTE + minute}`;
const reasons = async () => (await world.announced()).map(({ reason }) => reason);

test("CJ-1: a Job a minute, named after its time, with labels, annotation and owner", async () => {
  const { metadata } = await world.createCronJob("tick", { timeZone: "Europe/Berlin" });
  await world.clock.advance(MINUTE + 1000);
  expect(await world.jobNames()).toEqual([run("tick", 1)]);
  const job = await world.api.get(jobs, { namespace: "default", name: run("tick", 1) });
  expect(job.metadata).toMatchObject({
    labels: { run: "tick" },
    annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T01:01:00+01:00" },
    ownerReferences: [{ kind: "CronJob", name: "tick", uid: metadata.uid, controller: true }],
  });
  const cronJob = await world.cronJob("tick");
  expect(cronJob.status).toMatchObject({
    lastScheduleTime: "2026-01-01T00:01:00Z",
    active: [{ name: run("tick", 1), uid: job.metadata.uid }],
  });
  await world.clock.advance(2 * MINUTE);
  expect(await world.jobNames()).toHaveLength(3);
  expect((await reasons()).filter((reason) => reason === "SuccessfulCreate")).toHaveLength(3);
});

test("CJ-2, CJ-3, CJ-5: a finished Job leaves the active list and is announced", async () => {
  await world.createCronJob("tick", {});
  await world.clock.advance(MINUTE + 1000);
  await world.finishJob(run("tick", 1));
  const { status } = await world.cronJob("tick");
  expect(status?.active).toBeUndefined();
  expect(status?.lastSuccessfulTime).toBe("2026-01-01T00:01:01Z");
  expect(await world.announced()).toContainEqual({
    reason: "SawCompletedJob",
    message: `Saw completed job: ${run("tick", 1)}, condition: Complete`,
  });
});

test("CJ-3: a failed Job is not a success", async () => {
  await world.createCronJob("tick", {});
  await world.clock.advance(MINUTE + 1000);
  await world.finishJob(run("tick", 1), "Failed");
  expect((await world.cronJob("tick")).status?.lastSuccessfulTime).toBeUndefined();
});

test("CJ-2: Forbid waits for the terminal condition, and then makes up for the newest missed run", async () => {
  await world.createCronJob("tick", { concurrencyPolicy: "Forbid" });
  await world.clock.advance(2 * MINUTE + 1000);
  expect(await world.jobNames()).toEqual([run("tick", 1)]);
  expect(await reasons()).toContain("JobAlreadyActive");
  await world.finishJob(run("tick", 1));
  expect(await world.jobNames()).toEqual([run("tick", 1), run("tick", 2)]);
});

test("CJ-4: Replace deletes the running Job", async () => {
  await world.createCronJob("tick", { concurrencyPolicy: "Replace" });
  await world.clock.advance(2 * MINUTE + 1000);
  expect(await world.jobNames()).toEqual([run("tick", 2)]);
  expect((await world.cronJob("tick")).status?.active).toMatchObject([{ name: run("tick", 2) }]);
});

test("CJ-4: history limits keep the newest", async () => {
  await world.createCronJob("tick", { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 0 });
  for (let minute = 1; minute <= 4; minute++) {
    await world.clock.advance(MINUTE + 100);
    await world.finishJob(run("tick", minute), minute === 4 ? "Failed" : "Complete");
  }
  expect(await world.jobNames()).toEqual([run("tick", 2), run("tick", 3)]);
});

test("suspended: nothing is started; resumed: the newest missed run is", async () => {
  await world.createCronJob("tick", { suspend: true });
  await world.clock.advance(5 * MINUTE + 30_000);
  expect(await world.jobNames()).toEqual([]);
  const key = { namespace: "default", name: "tick" };
  await world.api.patch(cronJobs, key, { type: "merge", body: { spec: { suspend: false } } });
  await world.clock.settle();
  expect(await world.jobNames()).toEqual([run("tick", 5)]);
});

test("startingDeadlineSeconds: a run missed by more is not caught up", async () => {
  await world.createCronJob("tick", { schedule: "0 * * * *", startingDeadlineSeconds: 10, suspend: true });
  await world.clock.advance(61 * MINUTE);
  const key = { namespace: "default", name: "tick" };
  await world.api.patch(cronJobs, key, { type: "merge", body: { spec: { suspend: false } } });
  await world.clock.settle();
  expect(await world.jobNames()).toEqual([]);
  await world.clock.advance(60 * MINUTE);
  expect(await world.jobNames()).toEqual([run("tick", 120)]);
});

test("a Job deleted by hand leaves the active list", async () => {
  await world.createCronJob("tick", { schedule: "0 * * * *" });
  await world.clock.advance(60 * MINUTE + 1000);
  await world.api.delete(jobs, { namespace: "default", name: run("tick", 60) }, { propagationPolicy: "Background" });
  await world.clock.settle();
  expect((await world.cronJob("tick")).status?.active).toBeUndefined();
});

test("a status write that is lost leads to no second Job", async () => {
  world.cluster.faults.inject(
    { client: "controllers", resource: "cronjobs", subresource: "status" },
    { effect: "fail", code: 500 },
  );
  await world.createCronJob("tick", {});
  await world.clock.advance(MINUTE + 10_000);
  expect(await world.jobNames()).toEqual([run("tick", 1)]);
  expect((await world.cronJob("tick")).status?.active).toHaveLength(1);
});
