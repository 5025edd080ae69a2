import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aCluster, aShape, needs } from "../placement/fit/testing.ts";
import { Capacity, type Figures } from "./capacity.ts";

const cpu = (milli: number, pods = 1) => needs({ asks: { cpu: milli }, pods });
const lists = (free: string, nodes?: NodesReport): Figures => ({
  kind: "heartbeat",
  free: { cpu: free },
  largestFreeNode: { cpu: "2" },
  largestNode: { cpu: "4" },
  nodes,
});
const oneNode = (free: number): NodesReport =>
  aCluster([aShape({ nodes: 1, free: [{ nodes: 1, room: [free, 2 ** 30, 110] }] })]);
const cpuLeft = (room: Capacity): number | undefined => room.nodes?.shapes[0]?.free[0]?.room[0];

describe("Capacity", () => {
  it("is not limited before the agent has spoken", () => {
    const room = new Capacity();
    room.reserve("u", cpu(1000));
    expect(room.free).toBeUndefined();
  });

  it("takes a placement off at once, and trusts the agent again after two reports", () => {
    const room = new Capacity();
    room.report(lists("4"));
    room.reserve("u", cpu(500, 3));
    expect(room.free?.get("cpu")).toBe(2500);
    room.report(lists("4"));
    expect(room.free?.get("cpu")).toBe(2500);
    room.report(lists("2500m"));
    expect(room.free?.get("cpu")).toBe(2500);
  });

  it("never shows less than nothing", () => {
    const room = new Capacity();
    room.report(lists("1"));
    room.reserve("u", cpu(5000));
    expect(room.free?.get("cpu")).toBe(0);
  });

  it("gives back exactly what was taken", () => {
    const step = fc.record({
      uid: fc.constantFrom("a", "b", "c"),
      amount: fc.integer({ min: 0, max: 9 }),
      off: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const room = new Capacity();
        room.report(lists("100", oneNode(8000)));
        for (const { uid, amount, off } of steps) {
          if (off) room.cancel(uid);
          else room.reserve(uid, cpu(amount, 2));
        }
        for (const uid of ["a", "b", "c"]) room.cancel(uid);
        expect(room.free?.get("cpu")).toBe(100_000);
        expect(cpuLeft(room)).toBe(8000);
      }),
    );
  });

  it("takes a placement off the nodes until a report has them that came after it", () => {
    const room = new Capacity();
    room.report(lists("8", oneNode(8000)));
    room.reserve("u", cpu(500, 3));
    expect(cpuLeft(room)).toBe(6500);
    // What did not change enough is not told again, however many heartbeats come.
    for (let i = 0; i < 3; i++) room.report(lists("8"));
    expect(cpuLeft(room)).toBe(6500);
    room.report(lists("6500m", oneNode(6500)));
    expect(cpuLeft(room)).toBe(6500);
  });

  it("a report of the nodes that may have been on its way counts from the next heartbeat on", () => {
    const room = new Capacity();
    room.report(lists("8", oneNode(8000)));
    room.reserve("u", cpu(1000));
    room.report(lists("8", oneNode(8000)));
    expect(cpuLeft(room)).toBe(7000);
    room.report(lists("7"));
    expect(cpuLeft(room)).toBe(8000);
  });

  it("an agent that introduces itself without nodes is an older one, and its nodes are not known", () => {
    const room = new Capacity();
    room.report(lists("8", oneNode(8000)));
    room.report(lists("8"));
    expect(cpuLeft(room)).toBe(8000);
    room.report({ ...lists("8"), kind: "hello" });
    expect(room.nodes).toBeUndefined();
  });
});
