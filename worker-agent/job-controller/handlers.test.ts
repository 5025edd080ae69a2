import { TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { expectCreations, expectDeletions } from "./core/expectations.ts";
import { aJob, aPod, at } from "./testing/builders.ts";
import { version, WatchedHandlers } from "./testing/watched-handlers.ts";

const job = aJob().build();
const memoryOf = (setup: WatchedHandlers) => setup.memories.of("uid-job");
let setup: WatchedHandlers;
beforeEach(() => {
  setup = new WatchedHandlers([job]);
});

describe("Job events", () => {
  const edited = { ...job, metadata: { ...job.metadata, generation: 2 } };
  const finished = aJob()
    .status({ conditions: [{ type: "Complete", status: "True" }] })
    .build();

  it("Q-2 a new or edited Job is synced now, a status change after the batch", async () => {
    setup.handlers.jobAdded(job);
    expect(await setup.woken()).toEqual(["ns/job now"]);
    setup.handlers.jobUpdated(job, edited);
    expect(await setup.woken()).toEqual(["ns/job now"]);
    setup.handlers.jobUpdated(job, aJob().status({ ready: 0 }).build());
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  });

  it("Q-3 a finished Job is not synced; its selector goes to the orphan queue, its memory goes", async () => {
    memoryOf(setup);
    setup.handlers.jobUpdated(job, finished);
    expect(await setup.woken()).toEqual([]);
    expect(setup.orphans).toEqual(["selector in ns"]);
    expect(setup.memories.find("uid-job")).toBeUndefined();
  });

  it("Q-3 the orphan queue waits while the cache does not show the finalizers that the sync took", () => {
    memoryOf(setup).awaited.add("pod-1");
    setup.handlers.jobUpdated(job, finished);
    expect(setup.orphans).toEqual(["selector in ns, later"]);
  });

  it("Q-5 a deleted Job leaves nothing behind", async () => {
    memoryOf(setup);
    setup.handlers.jobDeleted(job);
    expect(await setup.woken()).toEqual(["ns/job now"]);
    expect(setup.memories.size).toBe(0);
    expect(setup.orphans).toEqual(["selector in ns"]);
  });

  it("Q-5 nor does one that was held back when it was deleted", () => {
    const mirror = aJob().spec({ managedBy: "example.com/x" }).build();
    setup = new WatchedHandlers([mirror], { managedBy: "example.com/x", also: () => false });
    setup.handlers.jobDeleted(mirror);
    expect(setup.orphans).toEqual(["selector in ns"]);
  });

  it("Q-4 follows a changed deadline", () => {
    const started = aJob().status({ startTime: at(-3) });
    const before = started.build();
    setup.handlers.jobUpdated(before, started.spec({ activeDeadlineSeconds: 10 }).build());
    expect(setup.timers).toEqual([7000]);
  });

  it("CL-4 counts external Jobs once, and leaves them alone", async () => {
    const external = aJob().spec({ managedBy: "example.com/x" }).build();
    setup.handlers.jobAdded(external);
    setup.handlers.jobUpdated(external, external);
    setup.handlers.jobDeleted(external);
    expect(await setup.woken()).toEqual([]);
    expect(await setup.metric("job_controller_jobs_by_external_controller_total")).toBe(1);
  });

  it("SW-8 a status change wakes a Job that waits for its cache with an urgent sync", async () => {
    memoryOf(setup).waitsForCache = true;
    memoryOf(setup).urgent = true;
    setup.handlers.jobUpdated(job, aJob().status({ ready: 0 }).build());
    expect(await setup.woken()).toEqual(["ns/job now"]);
  });

  it("SW-8 but not with one that a batch had asked for", async () => {
    memoryOf(setup).waitsForCache = true;
    setup.handlers.jobUpdated(job, aJob().status({ ready: 0 }).build());
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  });

  it("SW-8 nor while pods run: the batch covers it", async () => {
    setup.handlers.podAdded(aPod(job, "p").phase("Running").build());
    memoryOf(setup).waitsForCache = true;
    memoryOf(setup).urgent = true;
    setup.handlers.jobUpdated(job, aJob().status({ ready: 0 }).build());
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  });
});

describe("pod events", () => {
  const running = () => aPod(job, "p").phase("Running");

  it("Q-7 a new pod lowers the expectation and wakes its owner after the batch", async () => {
    memoryOf(setup).expectations = expectCreations(1, 0);
    setup.handlers.podAdded(running().build());
    expect(memoryOf(setup).expectations?.creations).toBe(0);
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  });

  it("Q-7 a pod of an unknown owner is ignored", async () => {
    setup.jobs.clear();
    setup.handlers.podAdded(running().build());
    expect(await setup.woken()).toEqual([]);
    expect(setup.orphans).toEqual([]);
  });

  it("Q-7 a namesake with another UID is not the owner", async () => {
    setup.jobs.set("job", { ...job, metadata: { ...job.metadata, uid: "another" } });
    setup.handlers.podAdded(running().build());
    expect(await setup.woken()).toEqual([]);
  });

  it("Q-6 a new pod that is being deleted counts as a deletion", () => {
    memoryOf(setup).expectations = expectDeletions(1, 0);
    setup.handlers.podAdded(running().deleting().build());
    expect(memoryOf(setup).expectations?.deletions).toBe(0);
  });

  it("Q-8 an orphan with the finalizer goes to the orphan queue and wakes Jobs that may adopt it", async () => {
    setup.handlers.podAdded(running().metadata({ ownerReferences: [] }).build());
    expect(setup.orphans).toEqual(["p"]);
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
    setup.handlers.podAdded(
      aPod(job)
        .metadata({ ownerReferences: [], labels: { app: "other" } })
        .build(),
    );
    expect(await setup.woken()).toEqual([]);
  });

  it("Q-9 the same version again is not a change", async () => {
    setup.handlers.podUpdated(version(running(), "1"), version(running().ready(), "1"));
    expect(await setup.woken()).toEqual([]);
  });

  it("Q-10 a lost finalizer is what we waited for", () => {
    memoryOf(setup).awaited.add("uid-p");
    setup.handlers.podUpdated(version(running(), "1"), version(running().ready(), "2"));
    expect([...memoryOf(setup).awaited]).toEqual(["uid-p"]);
    setup.handlers.podUpdated(version(running(), "2"), version(running().untracked(), "3"));
    expect([...memoryOf(setup).awaited]).toEqual([]);
  });

  it("Q-10 a changed owner wakes both", async () => {
    const other = aJob("other").build();
    setup.jobs.set("other", other);
    setup.handlers.podUpdated(version(running(), "1"), version(aPod(other, "p").phase("Running"), "2"));
    expect(await setup.woken()).toEqual(["ns/job after the batch", "ns/other after the batch"]);
  });

  it("Q-11 an orphan wakes Jobs only when its labels or owner changed", async () => {
    const orphan = () => running().metadata({ ownerReferences: [] }).untracked();
    setup.handlers.podUpdated(version(orphan(), "1"), version(orphan().ready(), "2"));
    expect(await setup.woken()).toEqual([]);
    setup.handlers.podUpdated(version(orphan().metadata({ labels: {} }), "2"), version(orphan(), "3"));
    expect(await setup.woken()).toEqual(["ns/job after the batch"]);
  });

  it("Q-12 a deleted pod lowers expectation and awaited removal", async () => {
    const memory = memoryOf(setup);
    memory.expectations = expectDeletions(1, 0);
    memory.awaited.add("uid-p");
    setup.handlers.podAdded(running().build());
    setup.handlers.podUpdated(version(running(), "1"), version(running().deleting(), "2"));
    expect(memory.expectations.deletions).toBe(0);
    expect(memory.awaited.size).toBe(1);
    setup.handlers.podDeleted(running().deleting().build());
    expect(memory.awaited.size).toBe(0);
    expect(await setup.woken()).not.toEqual([]);
  });

  it("Q-12 a pod of a finished or unknown Job that is being deleted goes to the orphan queue", () => {
    setup.jobs.set(
      "job",
      aJob()
        .status({ conditions: [{ type: "Failed", status: "True" }] })
        .build(),
    );
    setup.handlers.podUpdated(version(running(), "1"), version(running().deleting(), "2"));
    setup.jobs.clear();
    setup.handlers.podUpdated(version(running(), "2"), version(running().deleting(), "3"));
    expect(setup.orphans).toEqual(["p", "p"]);
  });

  it("AD-3 changed labels of an accounted success are looked at again", () => {
    const memory = memoryOf(setup);
    memory.settledUnchecked = false;
    const settled = () => aPod(job, "p").succeeded().untracked();
    setup.handlers.podUpdated(version(settled(), "1"), version(settled(), "2"));
    expect(memory.settledUnchecked).toBe(false);
    setup.handlers.podUpdated(version(settled(), "2"), version(settled().metadata({ labels: {} }), "3"));
    expect(memory.settledUnchecked).toBe(true);
  });

  it("counts pods that begin and cease to be terminal with the finalizer, whoever owns them", async () => {
    setup.jobs.clear();
    const metric = "job_controller_terminated_pods_tracking_finalizer_total";
    setup.handlers.podUpdated(version(running(), "1"), version(aPod(job, "p").failed(), "2"));
    expect(await setup.metric(metric)).toBe(1);
    setup.handlers.podUpdated(version(aPod(job, "p").failed(), "2"), version(aPod(job, "p").failed().untracked(), "3"));
    expect(await setup.metric(metric)).toBe(2);
    setup.handlers.podDeleted(
      aPod(job, "p")
        .failed()
        .metadata({ finalizers: [TRACKING_FINALIZER] })
        .build(),
    );
    expect(await setup.metric(metric)).toBe(3);
  });
});
