import fc from "fast-check";
import { expect, test } from "vitest";
import { resourceUnits, unitsOf } from "./requests.ts";

test.each([
  ["1", 1],
  ["1.5", 1.5],
  [".5", 0.5],
  ["500m", 0.5],
  ["100u", 0.001],
  ["1k", 1000],
  ["1Ki", 1024],
  ["64Mi", 64 * 2 ** 20],
  ["2e3", 2000],
  ["1E3", 1000],
  ["1E", 1e18],
  ["-1", -1],
  [3, 3],
])("%s is %d", (text, value) => {
  expect(unitsOf(text)).toBeCloseTo(value, 9);
});

test.each(["", "abc", "1Kib", "1 Gi", "1.2.3", "Ki"])("%j is no quantity", (text) => {
  expect(unitsOf(text)).toBeUndefined();
});

test("CPUs are counted in thousandths, everything else in whole units, rounded up", () => {
  expect(resourceUnits("cpu", "0.1")).toBe(100);
  expect(resourceUnits("cpu", "1500u")).toBe(2);
  expect(resourceUnits("memory", "1.5")).toBe(2);
  expect(resourceUnits("memory", "1Gi")).toBe(2 ** 30);
});

test("milli-CPUs survive the way through text", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 1e9 }), (milli) => resourceUnits("cpu", `${milli}m`) === milli));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e6 }), (milli) => resourceUnits("cpu", String(milli / 1000)) === milli),
  );
});
