import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Capacity } from "./capacity.ts";

const cpu = (milli: number) => new Map([["cpu", milli]]);
const lists = (free: string) => ({ free: { cpu: free }, largestFreeNode: { cpu: "2" }, largestNode: { cpu: "4" } });

describe("Capacity", () => {
  it("is not limited before the agent has spoken", () => {
    const room = new Capacity();
    room.reserve("u", cpu(1000), 1);
    expect(room.free).toBeUndefined();
  });

  it("takes a placement off at once, and trusts the agent again after two reports", () => {
    const room = new Capacity();
    room.report(lists("4"));
    room.reserve("u", cpu(500), 3);
    expect(room.free?.get("cpu")).toBe(2500);
    room.report(lists("4"));
    expect(room.free?.get("cpu")).toBe(2500);
    room.report(lists("2500m"));
    expect(room.free?.get("cpu")).toBe(2500);
  });

  it("never shows less than nothing", () => {
    const room = new Capacity();
    room.report(lists("1"));
    room.reserve("u", cpu(5000), 1);
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
        room.report(lists("100"));
        for (const { uid, amount, off } of steps) {
          if (off) room.cancel(uid);
          else room.reserve(uid, cpu(amount), 2);
        }
        for (const uid of ["a", "b", "c"]) room.cancel(uid);
        expect(room.free?.get("cpu")).toBe(100_000);
      }),
    );
  });
});
