import fc from "fast-check";
import { expect, it } from "vitest";
import { aJob } from "../testing/builders.ts";
import { MAX_UNCOUNTED_SECONDS, parseUncountedCap, uncountedCapMs } from "./uncounted-cap.ts";

it.each([
  ["0.2", 200],
  ["0.05", 50],
  ["0.050", 50],
  ["0.999", 999],
  ["1", 1000],
  ["1.000", 1000],
])("%s seconds are %d ms", (text, want) => expect(parseUncountedCap(text)).toBe(want));

it.each([
  "",
  "0",
  "0.049",
  "1.001",
  "2",
  "10",
  "-0.2",
  "+0.2",
  ".2",
  "0.",
  "0,2",
  "0.2s",
  "200ms",
  "2e-1",
  " 0.2",
  "0.0500",
  "NaN",
])("refuses %j", (text) => expect(parseUncountedCap(text)).toBeUndefined());

it("a Job without the annotation has no cap of its own", () => {
  expect(uncountedCapMs(aJob().build())).toBeUndefined();
  expect(
    uncountedCapMs(
      aJob()
        .annotations({ [MAX_UNCOUNTED_SECONDS]: "0.2" })
        .build(),
    ),
  ).toBe(200);
});

it("every millisecond within the bounds can be written", () =>
  fc.assert(fc.property(fc.integer({ min: 50, max: 1000 }), (ms) => parseUncountedCap((ms / 1000).toFixed(3)) === ms)));

it("whatever stands there, it is within the bounds or nothing", () =>
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
      const ms = parseUncountedCap(text) ?? 50;
      expect(ms).toBeGreaterThanOrEqual(50);
      expect(ms).toBeLessThanOrEqual(1000);
    }),
  ));
