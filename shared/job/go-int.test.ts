import { describe, expect, test } from "vitest";
import { parseGoInt } from "./go-int.ts";

describe("parseGoInt reads decimals like the API server (IG-3)", () => {
  const cases: [string, number | undefined][] = [
    ["0", 0],
    ["-0", 0],
    ["+7", 7],
    ["-7", -7],
    ["007", 7],
    ["2147483648", 2147483648],
    ["9223372036854775807", 2 ** 63],
    ["9223372036854775808", undefined],
    ["-9223372036854775808", -(2 ** 63)],
    ["-9223372036854775809", undefined],
    ["00000000000000000012", 12],
    ["", undefined],
    [" 1", undefined],
    ["1.0", undefined],
    ["1e3", undefined],
    ["0x1", undefined],
    ["1_000", undefined],
    ["+", undefined],
  ];
  test.each(cases)("%j -> %s", (text, want) => {
    expect(parseGoInt(text)).toBe(want);
  });
});
