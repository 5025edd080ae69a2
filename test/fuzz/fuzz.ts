import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect } from "vitest";
import type { Target } from "./targets.ts";

/** Far above what any input takes (50 ms), so that a busy machine does not fail the test, and far below what an attack needs. */
const GROSS_MS = 1_000;
const KEPT_BYTES = 48 * 2 ** 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

/** Nothing crashes the reader, nothing makes it slow, and it keeps nothing. Returns what the slowest input took, in ms of CPU. */
export function fuzz({ inputs, read }: Target, options: { numRuns: number; seed?: number }): number {
  let slowest = 0;
  const warm = fc.sample(inputs, { numRuns: 20, ...(options.seed === undefined ? {} : { seed: options.seed }) });
  for (const input of warm) read(input);
  const before = heap();
  fc.assert(
    fc.property(inputs, (input) => {
      const started = process.cpuUsage();
      read(input);
      const { user, system } = process.cpuUsage(started);
      const tookMs = (user + system) / 1000;
      slowest = Math.max(slowest, tookMs);
      expect(tookMs, "ms of CPU for one input").toBeLessThan(GROSS_MS);
    }),
    // Shrinking what is slow would be slower still.
    { ...options, endOnFailure: false },
  );
  expect(heap() - before, "bytes that are still held").toBeLessThan(KEPT_BYTES);
  return slowest;
}
