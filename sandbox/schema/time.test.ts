import { expect, test } from "vitest";
import { canonicalTime, wholeSeconds } from "./time.ts";

const cases: [string, string | undefined][] = [
  ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59Z"],
  ["2026-01-31T23:59:59.000Z", "2026-01-31T23:59:59Z"],
  ["2026-01-31T23:59:59.120Z", "2026-01-31T23:59:59.12Z"],
  ["2026-02-01T00:59:59+01:00", "2026-01-31T23:59:59Z"],
  ["2026-02-30T00:00:00Z", undefined],
  ["2026-01-01T24:00:00Z", undefined],
  ["2026-01-01T00:00:60Z", undefined],
  ["2026-01-01", undefined],
  ["2026-01-01T00:00:00", undefined],
  ["", undefined],
];
test.each(cases)("%j -> %s", (text, want) => {
  expect(canonicalTime(text)).toBe(want);
});

test("stored times have whole seconds (SW-9)", () => {
  expect(wholeSeconds("2026-01-31T23:59:59.12Z")).toBe("2026-01-31T23:59:59Z");
  expect(wholeSeconds("2026-01-31T23:59:59Z")).toBe("2026-01-31T23:59:59Z");
});
