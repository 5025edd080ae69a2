import fc from "fast-check";
import { expect, it } from "vitest";
import { epoch, hubUid } from "./names.ts";
import { SequenceGuard } from "./sequence-guard.ts";

const job = hubUid.parse("a");
const at = (number: number) => epoch.parse(number);

it("lets each report of an epoch through once, and older ones never", () => {
  const guard = new SequenceGuard();
  expect(guard.judge(job, at(2), 5)).toBe("new");
  guard.record(job, at(2), 5);
  expect(guard.judge(job, at(2), 5)).toBe("replayed");
  expect(guard.judge(job, at(2), 4)).toBe("replayed");
  expect(guard.judge(job, at(2), 6)).toBe("new");
  expect(guard.judge(job, at(1), 99)).toBe("stale-epoch");
  expect(guard.judge(job, at(3), 1)).toBe("new");
});

it("judges again what was not recorded, so that a failed handler can retry", () => {
  const guard = new SequenceGuard();
  expect(guard.judge(job, at(1), 1)).toBe("new");
  expect(guard.judge(job, at(1), 1)).toBe("new");
});

it("stays within its capacity and forgets the one heard of longest ago", () => {
  const guard = new SequenceGuard(2);
  guard.record(hubUid.parse("a"), at(1), 1);
  guard.record(hubUid.parse("b"), at(1), 1);
  guard.record(hubUid.parse("a"), at(1), 2);
  guard.record(hubUid.parse("c"), at(1), 1);
  expect(guard.size).toBe(2);
  expect(guard.judge(hubUid.parse("b"), at(1), 1)).toBe("new");
  expect(guard.judge(hubUid.parse("a"), at(1), 2)).toBe("replayed");
  guard.forget(hubUid.parse("a"));
  expect(guard.size).toBe(1);
});

it("accepts a strictly growing sequence however reports are doubled and shuffled", () => {
  const reports = fc.array(fc.record({ epoch: fc.integer({ min: 1, max: 4 }), seq: fc.integer({ min: 1, max: 20 }) }));
  fc.assert(
    fc.property(reports, (arrivals) => {
      const guard = new SequenceGuard();
      const accepted: number[] = [];
      for (const { epoch: number, seq } of arrivals) {
        if (guard.judge(job, at(number), seq) !== "new") continue;
        guard.record(job, at(number), seq);
        accepted.push(number * 1000 + seq);
      }
      expect(accepted).toEqual([...new Set(accepted)].sort((a, b) => a - b));
      const newest = Math.max(...arrivals.map(({ epoch: number, seq }) => number * 1000 + seq));
      if (arrivals.length > 0) expect(accepted.at(-1)).toBe(newest);
    }),
  );
});
