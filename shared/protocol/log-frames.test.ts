import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CREDIT_BYTES, pieceBytes, WINDOW_BYTES, windowBytes } from "./log-frames.ts";

const MiB = 2 ** 20;

describe("the window of one log", () => {
  it("is whole for a few readers and smaller for many", () => {
    expect([1, 16, 32, 128, 256].map(windowBytes)).toEqual([
      WINDOW_BYTES,
      WINDOW_BYTES,
      WINDOW_BYTES / 2,
      128 * 1024,
      128 * 1024,
    ]);
  });

  it("always has room for a piece beside what its reader has read and not told of yet, also of the previous release", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (streams) => {
        const window = windowBytes(streams);
        expect(window).toBeGreaterThanOrEqual(pieceBytes(window) + Math.max(CREDIT_BYTES, 64 * 1024));
      }),
    );
  });

  it("bounds what 256 readers that never read leave in Redis, whichever came first", () => {
    const worst = Array.from({ length: 256 }, (_, before) => windowBytes(before + 1)).reduce((sum, each) => sum + each);
    expect(worst).toBeLessThan(70 * MiB);
  });
});
