import { describe, expect, it } from "vitest";
import { SILENT_AFTER_MS, Silence } from "./silence.ts";

const LOST_MS = 60_000;
const NAMES = ["a", "b", "c"];

function watching(silentMs = 0): { silence: Silence; pass(ms: number, heard: string[], reachable?: boolean): void } {
  const silence = new Silence(0);
  let now = 0;
  for (const name of NAMES) silence.watch(name, LOST_MS, name === "a" ? silentMs : 0, now);
  return {
    silence,
    pass(ms, heard, reachable = true) {
      for (const end = now + ms; now < end; ) {
        now += 5_000;
        for (const name of heard) silence.heard(name, now);
        silence.count(now, reachable);
      }
    },
  };
}

describe("Silence", () => {
  it("loses a cluster that is silent for lostAfter while the others are heard", () => {
    const { silence, pass } = watching();
    pass(10_000, NAMES);
    pass(LOST_MS, ["b", "c"]);
    expect(silence.isLost("a")).toBe(false);
    pass(SILENT_AFTER_MS, ["b", "c"]);
    expect([silence.isLost("a"), silence.isLost("b")]).toEqual([true, false]);
  });

  it("forgives everything when the cluster is heard", () => {
    const { silence, pass } = watching();
    pass(50_000, ["b", "c"]);
    pass(5_000, NAMES);
    expect(silence.silentMs("a")).toBe(0);
  });

  it("goes on where a predecessor stopped: neither at once over nor from the beginning", () => {
    const { silence, pass } = watching(LOST_MS - 10_000);
    expect(silence.isLost("a")).toBe(false);
    pass(15_000, ["b", "c"]);
    expect(silence.isLost("a")).toBe(true);
  });

  it("counts nothing while we cannot reach Redis ourselves", () => {
    const { silence, pass } = watching();
    pass(10_000, NAMES);
    pass(3_600_000, ["b", "c"], false);
    expect(silence.silentMs("a")).toBe(0);
  });

  it("counts nothing while most clusters are silent at once", () => {
    const { silence, pass } = watching();
    pass(10_000, NAMES);
    pass(3_600_000, ["c"]);
    expect(silence.isLost("a") || silence.isLost("b")).toBe(false);
    expect(silence.isFrozen(3_610_000)).toBe(true);
  });

  it("knows nothing of clusters that are gone", () => {
    const { silence, pass } = watching(LOST_MS);
    silence.forget("a");
    pass(5_000, ["a", "b", "c"]);
    expect([silence.isLost("a"), silence.isConnected("a", 5_000)]).toEqual([false, false]);
  });
});
