import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect } from "vitest";
import type { Target } from "./targets.ts";

/** Of CPU, for any input that an API server or a message can hold; what is larger never comes, and may take as much longer. */
const LIMIT_MS = 50;
const LARGEST_CHARS = 1_572_864;
/** What a collection of garbage, or the compiler, adds to one reading is not in all of them. */
const READINGS = 5;
const KEPT_BYTES = 48 * 2 ** 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

const limitFor = (input: unknown): number => {
  const chars = typeof input === "string" ? input.length : JSON.stringify(input).length;
  return LIMIT_MS * Math.max(1, chars / LARGEST_CHARS);
};

function timed(work: () => void): number {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/** Nothing crashes the reader, nothing makes it slow, and it keeps nothing. Returns what the slowest input took, in ms of CPU. */
export function fuzz({ inputs, read }: Target, options: { numRuns: number; seed?: number }): number {
  let slowest = 0;
  const warm = fc.sample(inputs, { numRuns: 20, ...(options.seed === undefined ? {} : { seed: options.seed }) });
  for (const input of warm) read(input);
  const before = heap();
  fc.assert(
    fc.property(inputs, (input) => {
      let tookMs = timed(() => read(input));
      for (let reading = 1; tookMs >= LIMIT_MS && reading < READINGS; reading++)
        tookMs = Math.min(
          tookMs,
          timed(() => read(input)),
        );
      slowest = Math.max(slowest, tookMs);
      if (tookMs >= LIMIT_MS) expect(tookMs, "ms of CPU for one input").toBeLessThan(limitFor(input));
    }),
    // Shrinking what is slow would be slower still.
    { ...options, endOnFailure: true },
  );
  expect(heap() - before, "bytes that are still held").toBeLessThan(KEPT_BYTES);
  return slowest;
}
