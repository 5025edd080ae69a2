import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalQuantity, compareQuantities, milliValue, roundUpToMilli } from "./quantity.ts";

describe("canonical spelling", () => {
  const cases: [string, string | undefined][] = [
    ["0", "0"],
    ["0Ki", "0"],
    ["-0", "0"],
    ["1", "1"],
    ["1.0", "1"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["5.", "5"],
    ["1000", "1k"],
    ["1500m", "1500m"],
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["512", "512"],
    ["1Ki", "1Ki"],
    ["0.5Ki", "512"],
    ["1e3", "1e3"],
    ["12e-1", "1200e-3"],
    ["1E", "1E"],
    ["-2Gi", "-2Gi"],
    ["+3", "3"],
    ["0.0000000001", "1n"],
    [" 1 ", "1"],
    ["", undefined],
    ["1x", undefined],
    ["Ki", undefined],
    ["1 Gi", undefined],
    ["1KI", undefined],
    ["0x10", undefined],
    ["1e", undefined],
    ["true", undefined],
  ];
  test.each(cases)("%j -> %s", (text, want) => {
    expect(canonicalQuantity(text)).toBe(want);
  });

  test("is stable and keeps the amount", () => {
    const quantity = fc
      .tuple(fc.integer(), fc.nat({ max: 999 }), fc.constantFrom("", "m", "u", "k", "M", "Ki", "Mi", "Gi", "e3", "e-2"))
      .map(([whole, fraction, suffix]) => `${whole}.${fraction}${suffix}`);
    fc.assert(
      fc.property(quantity, (text) => {
        const canonical = canonicalQuantity(text) ?? "";
        expect(canonicalQuantity(canonical)).toBe(canonical);
        expect(compareQuantities(text, canonical)).toBe(0);
      }),
    );
  });
});

test("container resources are rounded up to thousandths", () => {
  expect(roundUpToMilli("100u")).toBe("1m");
  expect(roundUpToMilli("1500u")).toBe("2m");
  expect(roundUpToMilli("250m")).toBe("250m");
  expect(roundUpToMilli("-100u")).toBe("-1m");
});

test("amounts compare across notations", () => {
  expect(compareQuantities("1Gi", "1073741824")).toBe(0);
  expect(compareQuantities("1G", "1Gi")).toBe(-1);
  expect(compareQuantities("2", "1999m")).toBe(1);
});

test("thousandths for adding up", () => {
  expect(milliValue("1500u")).toBe(2n);
  expect(milliValue("2Ki")).toBe(2_048_000n);
  expect(milliValue("nonsense")).toBeUndefined();
});
