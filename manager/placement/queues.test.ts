import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import { queueObstacle } from "./eligibility.ts";
import { needs } from "./fit/testing.ts";
import { Ledger } from "./ledger.ts";
import { type WaitingClass, WaitingLine } from "./line/waiting-line.ts";
import { Queues } from "./queues.ts";
import { aCandidate } from "./testing.ts";

const EAST = parseClusterName("east");
const uid = (text: string) => hubUid.parse(text);

function queuesWith(spec: JobQueue["spec"] | undefined, labels: Record<string, string> = {}) {
  const ledger = new Ledger(new Clusters(new VirtualClock(), "key"));
  const queueNamed = (name: string): JobQueue | undefined =>
    name === "night" && spec !== undefined ? { metadata: { name }, spec } : undefined;
  return { queues: new Queues({ queueNamed, labelsOfNamespace: () => labels, ledger }), ledger };
}

describe("Queues", () => {
  it("default exists also when nobody wrote it down, others do not", () => {
    const { queues } = queuesWith(undefined);
    expect(queues.view("default")).toMatchObject({ paused: false, placement: "Spread", running: 0 });
    expect(queues.view("night")).toBeUndefined();
    expect(queues.onClusterLost("night")).toBe("Redispatch");
  });

  it("shows what the object says", () => {
    const view = queuesWith({ paused: true, placement: "Pack", quota: { jobs: 3 }, onClusterLost: "Wait" }).queues.view(
      "night",
    );
    expect(view).toMatchObject({ paused: true, placement: "Pack", maxJobs: 3 });
  });

  it.each([
    ["no selector", undefined, {}, true],
    ["a match", { matchLabels: { team: "a" } }, { team: "a" }, true],
    ["another value", { matchLabels: { team: "a" } }, { team: "b" }, false],
    ["an empty selector", {}, {}, true],
  ])("accepts namespaces by %s", (_, namespaceSelector, labels, accepted) => {
    const { queues } = queuesWith(namespaceSelector === undefined ? {} : { namespaceSelector }, labels);
    expect(queues.view("night")?.acceptsNamespace("team")).toBe(accepted);
  });

  it("counts each booked Job once", () => {
    const { queues, ledger } = queuesWith({});
    const booking = { cluster: EAST, queue: "night", needs: needs({ asks: { cpu: 500 }, pods: 2 }) };
    for (const name of ["u1", "u1", "u2"]) ledger.book(uid(name), booking);
    expect(queues.view("night")).toMatchObject({
      running: 2,
      used: new Map([
        ["pods", 4],
        ["cpu", 2000],
      ]),
    });
    for (let i = 0; i < 2; i++) ledger.release(uid("u1"));
    expect(queues.view("night")).toMatchObject({
      running: 1,
      used: new Map([
        ["pods", 2],
        ["cpu", 1000],
      ]),
    });
  });

  it("shares by weight", () => {
    const { queues, ledger } = queuesWith({ weight: 4 });
    const book = (name: string, queue: string) => ledger.book(uid(name), { cluster: EAST, queue, needs: needs() });
    for (const name of ["u1", "u2"]) book(name, "night");
    book("u3", "default");
    expect([queues.share("night"), queues.share("default")]).toEqual([0.5, 1]);
  });

  it("reads quotas in the units of requests", () => {
    const view = queuesWith({ quota: { resources: { cpu: "1500m", memory: "1Gi", "nvidia.com/gpu": 2 } } }).queues.view(
      "night",
    );
    expect([...(view?.quota ?? [])]).toEqual([
      ["cpu", 1500],
      ["memory", 2 ** 30],
      ["nvidia.com/gpu", 2],
    ]);
  });
});

it.each([
  ["a word", { cpu: "lots" }, 'queue night: cpu: "lots" is not a quantity'],
  ["a unit that does not exist", { memory: "5GB" }, 'queue night: memory: "5GB" is not a quantity'],
  ["an exponent", { cpu: "1e3" }, undefined],
  ["a number", { cpu: 2 }, undefined],
])("a quota that is %s", (_, resources, want) => {
  const view = queuesWith({ quota: { resources } }).queues.view("night");
  const obstacle = view && queueObstacle(aCandidate({ perPod: new Map([["cpu", 1]]), pods: 1 }), view);
  expect(obstacle?.reason).toBe(want);
});

describe("queues that share", () => {
  const clock = new VirtualClock();
  const spec = (name: string, of: JobQueue["spec"]): JobQueue => ({ metadata: { name }, ...(of && { spec: of }) });
  /** One cluster with 100 CPUs and 10 GPUs. */
  const sharing = (...all: JobQueue[]) => {
    const clusters = new Clusters(clock, "key");
    const east = clusters.upsert(EAST, { metadata: { name: EAST, uid: "c" }, spec: { publicKey: "" } });
    const figures = { free: {}, largestFreeNode: {}, largestNode: {} };
    east.capacity.report({ kind: "hello", capacity: { cpu: "100", "nvidia.com/gpu": "10", pods: "1000" }, ...figures });
    const ledger = new Ledger(clusters);
    const queueNamed = (name: string) => all.find(({ metadata }) => metadata.name === name);
    const queues = new Queues({
      queueNamed,
      labelsOfNamespace: () => undefined,
      ledger,
      all: () => all,
      clusters,
      clock,
    });
    const hold = (name: string, queue: string, asks: Record<string, number>): void =>
      ledger.book(uid(name), { cluster: EAST, queue, needs: needs({ asks }) });
    const aClass = (queue: string, asks: Record<string, number>): WaitingClass => {
      const line = new WaitingLine();
      const job = { uid: uid(`w-${queue}`), priority: 0, since: 0, arrival: 0 };
      line.put(job, "k", queue, aCandidate(needs({ asks })));
      return line.classOf(job.uid) as WaitingClass;
    };
    return { queues, hold, aClass };
  };

  it("a share is of the resource of which a queue holds the largest part, by weight", () => {
    const { queues, hold } = sharing(spec("cpus", {}), spec("gpus", { weight: 2 }));
    hold("a", "cpus", { cpu: 30_000, "nvidia.com/gpu": 1 });
    hold("b", "gpus", { cpu: 1000, "nvidia.com/gpu": 5 });
    expect([queues.share("cpus"), queues.share("gpus")]).toEqual([0.3, 0.25]);
  });

  it("who is owed something goes first, then who has the least", () => {
    const { queues, hold, aClass } = sharing(spec("owed", { quota: { resources: { cpu: "50" } } }), spec("poor", {}));
    hold("a", "owed", { cpu: 20_000 });
    const [owed, poor] = [aClass("owed", { cpu: 1000 }), aClass("poor", { cpu: 1000 })];
    expect([queues.goesFirst(owed, poor), queues.goesFirst(poor, owed)]).toEqual([true, false]);
    expect(queues.goesFirst(aClass("owed", { cpu: 40_000 }), poor)).toBe(false);
  });

  it("in a cohort a queue borrows what the others leave idle, up to its limit", () => {
    const quota = { resources: { cpu: "10" } };
    const { queues, hold } = sharing(
      spec("a", { cohort: "c", quota, borrowLimit: { resources: { cpu: "5" } } }),
      spec("b", { cohort: "c", quota }),
    );
    const obstacle = (queue: string, cpu: number): string | undefined => {
      const view = queues.view(queue);
      return view === undefined ? "none" : queueObstacle(aCandidate(needs({ asks: { cpu } })), view)?.reason;
    };
    hold("x", "a", { cpu: 10_000 });
    expect(obstacle("a", 5000)).toBeUndefined();
    expect(obstacle("a", 6000)).toBe("quota of queue a (cpu: asks 6, holds 10, may hold 10 and borrow 5)");
    hold("y", "b", { cpu: 8000 });
    expect(obstacle("a", 5000)).toBe(
      "quota of queue a (cpu: asks 5, holds 10, may hold 10, and 2 of 20 are idle in cohort c)",
    );
    expect(obstacle("b", 2000)).toBeUndefined();
    expect([...queues.sharingWith("a")]).toEqual(["a", "b"]);
  });
});
