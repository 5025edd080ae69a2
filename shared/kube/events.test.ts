import { expect, test } from "vitest";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import type { KubeObject, ObjectKey, Patch } from "./api.ts";
import { ApiError } from "./errors.ts";
import { EventRecorder, type EventRecorderOptions } from "./events.ts";
import { jobs, type KubeEvent } from "./resources.ts";
import { ScriptedApi } from "./testing/scripted-api.ts";

const job = (name: string): KubeObject => ({
  metadata: { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: "5" },
});

/** A recorder on a server that keeps events in a map; `trouble` makes a call fail. */
function recording(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 10, 16, 12));
  const stored = new Map<string, KubeEvent>();
  const calls: string[] = [];
  const dropped: string[] = [];
  let trouble: ApiError | undefined;
  const attempt = async (what: string): Promise<void> => {
    calls.push(what);
    if (trouble !== undefined) throw trouble;
  };
  const api = new ScriptedApi({
    create: async (object) => {
      await attempt("create");
      stored.set(object.metadata.name ?? "", structuredClone(object) as unknown as KubeEvent);
      return object;
    },
    patch: async ({ name }: ObjectKey, patch: Patch) => {
      await attempt("patch");
      const known = stored.get(name);
      if (known === undefined) throw new ApiError(404, "NotFound", "gone");
      stored.set(name, { ...known, ...structuredClone(patch.body) });
      return known;
    },
  });
  const recorder = new EventRecorder({
    api,
    clock,
    component: "job-controller",
    onDropped: (why) => dropped.push(why),
    ...options,
  });
  const fail = (error: ApiError | undefined): void => {
    trouble = error;
  };
  return { clock, recorder, stored, calls, dropped, fail };
}

test("an event looks as Kubernetes' own controllers write it (K-10, EV-1)", async () => {
  const { clock, recorder, stored } = recording();
  recorder.record(jobs, job("pi"), "Normal", "SuccessfulCreate", "Created pod: pi-0");
  await clock.settle();
  const [event] = stored.values();
  expect(event?.metadata.name).toMatch(/^pi\.[0-9a-f]{16}$/);
  expect(event).toMatchObject({
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "ns" },
    involvedObject: {
      apiVersion: "batch/v1",
      kind: "Job",
      namespace: "ns",
      name: "pi",
      uid: "uid-pi",
      resourceVersion: "5",
    },
    type: "Normal",
    reason: "SuccessfulCreate",
    message: "Created pod: pi-0",
    count: 1,
    firstTimestamp: "2026-11-16T12:00:00Z",
    lastTimestamp: "2026-11-16T12:00:00Z",
    source: { component: "job-controller" },
    reportingComponent: "job-controller",
  });
});

test("the same event again raises the count of the first", async () => {
  const { clock, recorder, stored, calls } = recording();
  for (let i = 0; i < 3; i++) {
    recorder.record(jobs, job("pi"), "Warning", "FailedCreate", "quota");
    await clock.advance(60_000);
  }
  expect(calls).toEqual(["create", "patch", "patch"]);
  expect([...stored.values()]).toMatchObject([
    { count: 3, firstTimestamp: "2026-11-16T12:00:00Z", lastTimestamp: "2026-11-16T12:02:00Z" },
  ]);
});

test("counts that gather while a write is under way share the next", async () => {
  const { clock, recorder, stored, calls } = recording();
  for (let i = 0; i < 20; i++) recorder.record(jobs, job("pi"), "Warning", "FailedCreate", "quota");
  await clock.settle();
  expect([...stored.values()].map(({ count }) => count)).toEqual([20]);
  expect(calls.length).toBeLessThanOrEqual(2);
});

test("events of other objects, types and reasons are other events", async () => {
  const { clock, recorder, stored } = recording();
  recorder.record(jobs, job("a"), "Normal", "Suspended", "m");
  recorder.record(jobs, job("b"), "Normal", "Suspended", "m");
  recorder.record(jobs, job("a"), "Warning", "Suspended", "m");
  recorder.record(jobs, job("a"), "Normal", "Resumed", "m");
  await clock.settle();
  expect(stored.size).toBe(4);
});

test("from the eleventh message for one reason on they share one event", async () => {
  const { clock, recorder, stored } = recording();
  for (let i = 0; i < 20; i++) {
    recorder.record(jobs, job("pi"), "Normal", "SuccessfulCreate", `Created pod: pi-${i}`);
    await clock.settle();
  }
  expect(stored.size).toBe(11);
  expect([...stored.values()].at(-1)).toMatchObject({
    count: 10,
    message: "(combined from similar events): Created pod: pi-19",
  });
  await clock.advance(601_000);
  recorder.record(jobs, job("pi"), "Normal", "SuccessfulCreate", "Created pod: pi-20");
  await clock.settle();
  expect([...stored.values()].at(-1)?.message).toBe("Created pod: pi-20");
});

test("one object's flood is cut off and leaves the others alone", async () => {
  const { clock, recorder, stored, dropped } = recording();
  for (let i = 0; i < 100; i++) recorder.record(jobs, job("noisy"), "Warning", "Loop", "again");
  recorder.record(jobs, job("quiet"), "Normal", "Completed", "done");
  await clock.settle();
  expect([...stored.values()].map(({ count }) => count)).toEqual([25, 1]);
  expect(dropped).toHaveLength(75);
  await clock.advance(300_000);
  recorder.record(jobs, job("noisy"), "Warning", "Loop", "again");
  await clock.settle();
  expect([...stored.values()][0]?.count).toBe(26);
});

test("a flood of objects is cut off, except their warnings", async () => {
  const { clock, recorder, stored, dropped } = recording();
  for (let i = 0; i < 600; i++) recorder.record(jobs, job(`j${i}`), "Normal", "SuccessfulCreate", "m");
  recorder.record(jobs, job("bad"), "Warning", "BackoffLimitExceeded", "m");
  await clock.advance(1_000);
  expect(dropped).toEqual(Array(500).fill("flood"));
  expect(stored.size).toBe(101);
  for (let i = 0; i < 30; i++) recorder.record(jobs, job(`j${i}`), "Normal", "Completed", "m");
  expect(dropped).toHaveLength(520);
});

test("an event the server has meanwhile dropped is written anew with its count", async () => {
  const { clock, recorder, stored, calls } = recording();
  recorder.record(jobs, job("pi"), "Normal", "R", "m");
  await clock.settle();
  stored.clear();
  recorder.record(jobs, job("pi"), "Normal", "R", "m");
  await clock.settle();
  expect(calls).toEqual(["create", "patch", "create"]);
  expect([...stored.values()]).toMatchObject([{ count: 2 }]);
});

test("a server in trouble is tried again later, and the caller never waits", async () => {
  const { clock, recorder, stored, calls, fail } = recording();
  fail(new ApiError(503, "ServiceUnavailable", "down"));
  recorder.record(jobs, job("pi"), "Normal", "R", "m");
  await clock.advance(3000);
  expect(calls.length).toBeGreaterThan(1);
  fail(undefined);
  await clock.advance(30_000);
  expect(stored.size).toBe(1);
});

test.each([
  ["forbidden", new ApiError(403, "Forbidden", "no"), 1],
  ["down for good", new ApiError(503, "ServiceUnavailable", "down"), 9],
])("an event is given up when the server is %s", async (_, error, tries) => {
  const { clock, recorder, calls, dropped, fail } = recording();
  fail(error);
  recorder.record(jobs, job("pi"), "Normal", "R", "m");
  await clock.advance(3_600_000);
  expect(calls).toHaveLength(tries);
  expect(dropped).toEqual(["rejected"]);
  await recorder.flush();
});

test("what waits is bounded", async () => {
  const { clock, recorder, stored, dropped, fail } = recording({ maxPending: 10 });
  fail(new ApiError(503, "ServiceUnavailable", "down"));
  for (let i = 0; i < 50; i++) recorder.record(jobs, job(`j${i}`), "Normal", "R", "m");
  expect(dropped).toHaveLength(40);
  fail(undefined);
  await clock.advance(60_000);
  expect(stored.size).toBe(10);
});

test("stop writes what is left, or gives up in time, and records no more", async () => {
  const { clock, recorder, stored, fail } = recording();
  recorder.record(jobs, job("a"), "Normal", "R", "m");
  await recorder.stop();
  expect(stored.size).toBe(1);
  recorder.record(jobs, job("b"), "Normal", "R", "m");
  await clock.advance(60_000);
  expect(stored.size).toBe(1);

  const other = recording();
  other.fail(new ApiError(503, "ServiceUnavailable", "down"));
  other.recorder.record(jobs, job("a"), "Normal", "R", "m");
  let stopped = false;
  void other.recorder.stop(2000).then(() => {
    stopped = true;
  });
  await other.clock.advance(1999);
  expect(stopped).toBe(false);
  await other.clock.advance(1);
  expect(stopped).toBe(true);
  fail(undefined);
});

test("long messages are cut", async () => {
  const { clock, recorder, stored } = recording();
  recorder.record(jobs, job("pi"), "Normal", "R", "x".repeat(5000));
  await clock.settle();
  expect([...stored.values()][0]?.message).toHaveLength(1024);
});
