import type { Job } from "@jobferry/shared/job/types.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { expectCreations } from "./core/expectations.ts";
import { aJob, aPod, type PodBuilder } from "./testing/builders.ts";
import { BATCHED, SETTLED, version, WatchedHandlers } from "./testing/watched-handlers.ts";

const job = aJob().build();
const memoryOf = (setup: WatchedHandlers) => setup.memories.of("uid-job");
let setup: WatchedHandlers;
beforeEach(() => {
  setup = new WatchedHandlers([job]);
});

const pod = (name: string) => aPod(job, name).phase("Running");
const finish = (name: string) =>
  setup.handlers.podUpdated(version(pod(name), "1"), version(aPod(job, name).succeeded(), "2"));

const busy = () => {
  setup.batching.syncBegins("ns/job");
  setup.batching.syncEnds("ns/job");
};

it("the last unfinished pod is synced at once, others of a busy Job after the batch", async () => {
  setup.handlers.podAdded(pod("a").build());
  setup.handlers.podAdded(pod("b").build());
  await setup.woken();
  busy();
  finish("a");
  expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  finish("b");
  expect(await setup.woken()).toEqual(["ns/job now"]);
});

it.each([
  ["in a busy Job after the batch, as everywhere", true, [], "ns/job after the batch"],
  ["in a quiet one soon", false, [], `ns/job ${SETTLED}`],
  ["at once when the Job only waits for that", true, ["FailureTarget"], "ns/job now"],
] as const)("the last unfinished pod fails: synced %s", async (_, isBusy, types, when) => {
  const conditions = types.map((type) => ({ type, status: "True" as const }));
  setup.jobs.set("job", { ...job, status: { conditions } });
  setup.handlers.podAdded(version(pod("a"), "1"));
  await setup.woken();
  if (isBusy) busy();
  setup.handlers.podUpdated(version(pod("a"), "1"), version(aPod(job, "a").failed(), "2"));
  expect(await setup.woken()).toEqual([when]);
});

describe("in a quiet Job with another unfinished pod", () => {
  const wokenBy = async (of: Job, before: PodBuilder, after: PodBuilder) => {
    setup.jobs.set("job", of);
    setup.handlers.podAdded(pod("other").build());
    setup.handlers.podAdded(version(before, "1"));
    await setup.woken();
    setup.handlers.podUpdated(version(before, "1"), version(after, "2"));
    return await setup.woken();
  };
  const onlyFailed = aJob().spec({ podReplacementPolicy: "Failed" }).build();
  const p = () => pod("p");

  it.each([
    ["a pod that succeeded", job, p(), aPod(job, "p").succeeded(), SETTLED],
    ["a pod that failed", job, p(), aPod(job, "p").failed(), SETTLED],
    ["a pod that is being deleted, although it counts as failed (CT-4)", job, p(), p().deleting(), BATCHED],
    ["PR-2 a pod that is being deleted and does not count yet", onlyFailed, p(), p().deleting(), BATCHED],
    ["PR-2 its end", onlyFailed, p().deleting(), aPod(job, "p").failed().deleting(), SETTLED],
    ["a deleted pod that reaches its phase", job, p().deleting(), aPod(job, "p").failed().deleting(), SETTLED],
    ["a pod that got ready", job, p(), p().ready(), BATCHED],
    ["a finalizer that went", job, aPod(job, "p").succeeded(), aPod(job, "p").succeeded().untracked(), BATCHED],
  ])("%s", async (_, of, before, after, when) => expect(await wokenBy(of, before, after)).toEqual([`ns/job ${when}`]));

  it("a pod that is gone without a final phase waits for the batch", async () => {
    setup.handlers.podAdded(pod("other").build());
    setup.handlers.podAdded(pod("p").build());
    await setup.woken();
    setup.handlers.podDeleted(pod("p").build());
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  });
});

it("a pod that got ready waits for the batch even when it is alone", async () => {
  setup.handlers.podAdded(pod("a").build());
  await setup.woken();
  setup.handlers.podUpdated(version(pod("a"), "1"), version(pod("a").ready(), "2"));
  expect(await setup.woken()).toEqual(["ns/job after the batch"]);
});

it("pods that were created but not seen yet count as unfinished", async () => {
  setup.handlers.podAdded(pod("a").build());
  await setup.woken();
  memoryOf(setup).expectations = expectCreations(1, 0);
  busy();
  finish("a");
  expect(await setup.woken()).toEqual(["ns/job after the batch"]);
});

it.each([
  ["a finishing Job waits for its last pod to go", ["FailureTarget"], "ns/job now"],
  ["a successful one as well", ["SuccessCriteriaMet"], "ns/job now"],
  ["in a running Job it is batched: more may be deleted", [], "ns/job after the batch"],
] as const)("the last terminating pod vanishes: %s", async (_, types, when) => {
  const conditions = types.map((type) => ({ type, status: "True" as const }));
  setup.jobs.set("job", { ...job, status: { conditions } });
  setup.handlers.podAdded(pod("a").deleting().build());
  await setup.woken();
  setup.handlers.podDeleted(pod("a").deleting().build());
  expect(await setup.woken()).toEqual([when]);
});

it("a Job that wants more pods than one sync may create goes on when the cache shows those", async () => {
  const memory = memoryOf(setup);
  memory.wantsMorePods = true;
  memory.expectations = expectCreations(2, 0);
  setup.handlers.podAdded(pod("a").build());
  expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  setup.handlers.podAdded(pod("b").build());
  expect(await setup.woken()).toEqual(["ns/job now"]);
});
