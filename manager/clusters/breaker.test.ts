import { hubUid } from "@jobferry/shared/protocol/names.ts";
import { describe, expect, it } from "vitest";
import { Breaker } from "./breaker.ts";

const uid = (name: string) => hubUid.parse(name);
const MINUTE = 60_000;
const nobody = (): boolean => false;
/** `a1` is a Job of a. */
const fail = (breaker: Breaker, jobs: string, now = 0, isBadElsewhere: (who: string) => boolean = nobody): boolean =>
  jobs
    .split(" ")
    .map((job) => breaker.failed({ source: job, submitter: job[0] ?? "", text: "no" }, uid(job), now, isBadElsewhere))
    .some((opened) => opened);
const opened = (): Breaker => {
  const breaker = new Breaker();
  fail(breaker, "a1 a2 a3 b1 b2");
  return breaker;
};

describe("a manager that starts anew", () => {
  const stored = { leftMs: 4 * MINUTE, times: 2, why: "5 Jobs failed" };

  it("goes on where the cluster was set aside, and doubles the pause from there", () => {
    const breaker = new Breaker(stored, 7);
    expect(breaker.obstacle(7)).toBe("set aside for a while: 5 Jobs failed");
    expect(breaker.leftMs(7)).toBe(4 * MINUTE);
    const later = 7 + 4 * MINUTE;
    expect(breaker.obstacle(later)).toBeUndefined();
    breaker.gets(uid("a1"), later);
    expect(fail(breaker, "a1", later)).toBe(true);
    expect([breaker.times, breaker.leftMs(later)]).toEqual([3, 20 * MINUTE]);
  });

  it.each([
    ["a pause that is over: one Job is tried", -MINUTE, 0],
    ["a clock that was put back: no longer than the longest pause", 1e12, 120 * MINUTE],
  ])("%s", (_, leftMs, want) => {
    expect(new Breaker({ ...stored, leftMs }, 0).leftMs(0)).toBe(want);
  });
});

describe("a cluster is set aside", () => {
  it.each<[string, string, boolean]>([
    ["when Jobs of different submitters fail in a row", "a1 a2 a3 b1 b2", true],
    ["not by one submitter, however many Jobs fail", "a1 a2 a3 a4 a5 a6 a7 a8 a9", false],
    ["not by one submitter and an accident of another", "a1 a2 a3 a4 a5 a6 a7 b1", false],
    ["not by the same Jobs again and again", "a1 b1 a1 b1 a1 b1 a1 b1", false],
    ["when each of five submitters has one", "a1 b1 c1 d1 e1", true],
  ])("%s", (_, jobs, want) => {
    expect(fail(new Breaker(), jobs)).toBe(want);
  });

  it("not when one went well in between, nor by what was long ago", () => {
    const breaker = new Breaker();
    fail(breaker, "a1 a2 b1 b2");
    breaker.succeeded(uid("c1"), 0);
    expect(fail(breaker, "a3 b3")).toBe(false);
    expect(fail(breaker, "a4 b4 c4 d4", 11 * MINUTE)).toBe(false);
  });

  it("not by submitters whose Jobs fail elsewhere as well", () => {
    expect(fail(new Breaker(), "a1 b1 c1 d1 e1", 0, (who) => who === "e")).toBe(false);
  });
});

describe("a cluster that is set aside", () => {
  it("gets nothing for five minutes, then one Job at a time, and is taken back when that goes well", () => {
    const breaker = opened();
    expect(breaker.obstacle(5 * MINUTE - 1)).toBe(
      "set aside for a while: 5 Jobs in a row failed at their start, the last: no",
    );
    expect(breaker.obstacle(5 * MINUTE)).toBeUndefined();
    breaker.gets(uid("t"), 5 * MINUTE);
    expect(breaker.obstacle(5 * MINUTE)).toMatch(/^one Job is tried there first/);
    expect(breaker.succeeded(uid("old"), 5 * MINUTE)).toBe(false);
    expect(breaker.succeeded(uid("t"), 6 * MINUTE)).toBe(true);
    expect([breaker.isSetAside, breaker.obstacle(6 * MINUTE)]).toEqual([false, undefined]);
  });

  it("waits twice as long after each Job that fails again", () => {
    const breaker = opened();
    const pauses: number[] = [];
    for (let now = 5 * MINUTE, i = 0; i < 7; i++) {
      breaker.gets(uid(`t${i}`), now);
      expect(fail(breaker, "other", now)).toBe(false);
      expect(fail(breaker, `t${i}`, now)).toBe(true);
      pauses.push(breaker.leftMs(now) / MINUTE);
      now += breaker.leftMs(now);
    }
    expect(pauses).toEqual([10, 20, 40, 80, 120, 120, 120]);
  });

  it("tries the next Job when the one that was tried has left without a result", () => {
    const breaker = opened();
    breaker.gets(uid("t"), 5 * MINUTE);
    breaker.left(uid("t"));
    expect(breaker.obstacle(5 * MINUTE)).toBeUndefined();
    expect(breaker.succeeded(uid("t"), 5 * MINUTE)).toBe(true);
  });
});
