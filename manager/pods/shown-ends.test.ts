import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { UID } from "../testing/hub-job.ts";
import { ShownEnds } from "./shown-ends.ts";

let clock: VirtualClock;
let told: string[];
let ends: ShownEnds;
beforeEach(() => {
  clock = new VirtualClock();
  told = [];
  ends = new ShownEnds(clock, (uid) => told.push(uid));
});

describe("the end of a Job", () => {
  it("is kept back until its pods are shown to have ended, and then nobody waits", () => {
    expect(ends.isHeld(UID)).toBe(false);
    expect(ends.heldMs(UID)).toBe(2_000);
    ends.settled(UID, false);
    expect([ends.isHeld(UID), told]).toEqual([true, []]);
    ends.settled(UID, true);
    expect([ends.isHeld(UID), told]).toEqual([false, [UID]]);
    expect(ends.heldMs(UID)).toBe(0);
  });

  it("is not kept back when the pods came first", () => {
    ends.settled(UID, true);
    expect(ends.heldMs(UID)).toBe(0);
    expect(told).toEqual([]);
  });

  it("is kept back when a pod came back to life: another try of the same Job", () => {
    ends.settled(UID, true);
    ends.settled(UID, false);
    expect(ends.heldMs(UID)).toBe(2_000);
  });

  it("is kept back for two seconds in all, whatever becomes of the shadows", async () => {
    expect(ends.heldMs(UID)).toBe(2_000);
    await clock.advance(1_500);
    expect(ends.heldMs(UID)).toBe(500);
    await clock.advance(500);
    expect(ends.heldMs(UID)).toBe(0);
  });
});
