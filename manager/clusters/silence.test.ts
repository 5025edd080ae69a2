import { describe, expect, it } from "vitest";
import { isOurFault, SILENT_AFTER_MS, Silence } from "./silence.ts";

const LOST_MS = 60_000;
const NAMES = ["a", "b", "c"];

/** Clusters that were heard before, `a` silent for a while already. */
function watching(silentMs = 0, wasHeard = true, names = NAMES) {
  let now = 0;
  const silences = new Map(
    names.map((name) => [name, new Silence(LOST_MS, name === "a" ? silentMs : 0, wasHeard, now)]),
  );
  return {
    of: (name: string): Silence => silences.get(name) as Silence,
    isFrozen: () => isOurFault(silences.values(), now),
    pass(ms: number, heard: string[]): void {
      for (const end = now + ms; now < end; ) {
        now += 5_000;
        for (const name of heard) silences.get(name)?.heard(now);
        if (!isOurFault(silences.values(), now)) for (const silence of silences.values()) silence.count(now, 5_000);
      }
    },
  };
}

describe("Silence", () => {
  it("loses a cluster that is silent for lostAfter while the others are heard", () => {
    const { of, pass } = watching();
    pass(10_000, NAMES);
    pass(LOST_MS, ["b", "c"]);
    expect(of("a").isLost).toBe(false);
    pass(SILENT_AFTER_MS, ["b", "c"]);
    expect([of("a").isLost, of("b").isLost]).toEqual([true, false]);
  });

  it("forgives everything when the cluster is heard", () => {
    const { of, pass } = watching();
    pass(50_000, ["b", "c"]);
    pass(5_000, NAMES);
    expect(of("a").silentMs).toBe(0);
  });

  it("goes on where a predecessor stopped: neither at once over nor from the start", () => {
    const { of, pass } = watching(LOST_MS - 10_000);
    expect(of("a").isLost).toBe(false);
    pass(15_000, ["b", "c"]);
    expect(of("a").isLost).toBe(true);
  });

  it("counts nothing while most clusters are silent at once", () => {
    const { of, pass, isFrozen } = watching();
    pass(10_000, NAMES);
    pass(3_600_000, ["c"]);
    expect(of("a").isLost || of("b").isLost).toBe(false);
    expect(isFrozen()).toBe(true);
  });

  it("two losses an hour apart are two losses: a cluster that is lost already has no voice", () => {
    const { of, pass } = watching();
    pass(10_000, NAMES);
    pass(3_600_000, ["b", "c"]);
    pass(2 * LOST_MS, ["c"]);
    expect([of("a").isLost, of("b").isLost, of("c").isLost]).toEqual([true, true, false]);
  });

  it("clusters that were never heard have no voice", () => {
    const { of, pass } = watching(0, false, ["a", "b", "planned", "planned-too"]);
    pass(10_000, ["a", "b"]);
    pass(2 * LOST_MS, ["b"]);
    expect(of("a").isLost).toBe(true);
  });
});
