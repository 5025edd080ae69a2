import { type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aCandidate } from "../testing.ts";
import { goesBefore, JobHeap, type WaitingJob } from "./job-heap.ts";
import { type WaitingClass, WaitingLine } from "./waiting-line.ts";

const uid = (text: string): HubUid => hubUid.parse(text);
const aJob = (name: string, over: Partial<WaitingJob> = {}): WaitingJob => ({
  uid: uid(name),
  priority: 0,
  since: 0,
  arrival: 0,
  ...over,
});
const order = (one: WaitingJob, other: WaitingJob): number => (goesBefore(one, other) ? -1 : 1);

describe("the order of Jobs", () => {
  it("is by importance, then by age, then by arrival", () => {
    const jobs = [
      aJob("late", { arrival: 2 }),
      aJob("early", { arrival: 1 }),
      aJob("old", { since: -1, arrival: 3 }),
      aJob("important", { priority: 1, arrival: 4 }),
    ];
    expect(jobs.sort(order).map((job) => job.uid)).toEqual(["important", "old", "early", "late"]);
  });

  it("a heap gives them in that order, whatever came and went", () => {
    const act = fc.record({ name: fc.nat(9), priority: fc.nat(3), goes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(act), (acts) => {
        const heap = new JobHeap();
        const live = new Map<string, WaitingJob>();
        for (const [arrival, { name, priority, goes }] of acts.entries()) {
          heap.remove(uid(`u${name}`));
          live.delete(`u${name}`);
          if (goes) continue;
          const job = aJob(`u${name}`, { priority, arrival });
          heap.put(job);
          live.set(`u${name}`, job);
        }
        const wanted = [...live.values()].sort(order);
        const got: WaitingJob[] = [];
        for (let { head } = heap; head !== undefined; { head } = heap) {
          got.push(head);
          heap.remove(head.uid);
        }
        expect(got).toEqual(wanted);
      }),
    );
  });

  it("keeps no more holes than Jobs, but for a few", () => {
    const heap = new JobHeap();
    for (let i = 0; i < 10_000; i++) heap.put(aJob(`u${i}`, { arrival: i }));
    for (let i = 0; i < 9_990; i++) heap.remove(uid(`u${i}`));
    expect(heap.size).toBe(10);
    expect(heap.slots).toBeLessThan(100);
  });
});

describe("the line", () => {
  const aLine = () => {
    const line = new WaitingLine();
    const put = (name: string, key: string, over: Partial<WaitingJob> = {}): void =>
      line.put(aJob(name, over), key, "q", aCandidate({ perPod: new Map([["cpu", key.length]]) }));
    const pending = (): string[] => (line.queue("q")?.pending ?? []).map(({ key }) => key);
    const settled = (): WaitingClass[] => {
      const found: WaitingClass[] = [];
      for (const { classes } of line.queue("q")?.bins.values() ?? [])
        classes.visit(
          undefined,
          () => undefined,
          (group) => found.push(group) < 0,
        );
      return found;
    };
    return { line, put, pending, settled };
  };

  it("classes stand in the order of their first Jobs, also when these change", () => {
    const { line, put, pending } = aLine();
    put("one", "a", { arrival: 1 });
    put("two", "bb", { arrival: 2 });
    put("three", "bb", { arrival: 3, priority: 5 });
    expect(pending()).toEqual(["bb", "a"]);
    line.remove(uid("three"));
    expect(pending()).toEqual(["a", "bb"]);
    put("two", "bb", { arrival: 2, priority: 9 });
    expect(pending()).toEqual(["bb", "a"]);
    put("two", "a", { arrival: 2, priority: 9 });
    expect(pending()).toEqual(["a"]);
  });

  it("a settled class is filed by what it asks for until it is to be looked at again", () => {
    const { line, put, pending, settled } = aLine();
    put("one", "a", { arrival: 1 });
    put("two", "bb", { arrival: 2 });
    for (const group of [...(line.queue("q")?.pending ?? [])]) line.settle(group);
    expect([pending(), settled().map(({ key }) => key)]).toEqual([[], ["a", "bb"]]);
    put("three", "a", { arrival: 3, priority: 1 });
    expect(settled().find(({ key }) => key === "a")?.first.uid).toBe("three");
    line.unsettleAll("q");
    expect([pending(), settled()]).toEqual([["a", "bb"], []]);
  });

  it("nothing is kept of Jobs that have left", () => {
    const { line, put } = aLine();
    put("one", "a");
    put("two", "bb");
    const [first] = line.queue("q")?.pending ?? [];
    if (first !== undefined) line.settle(first);
    for (const name of ["one", "two"]) line.remove(uid(name));
    expect([line.size, [...line.classes()], [...line.queues()]]).toEqual([0, [], []]);
  });
});
