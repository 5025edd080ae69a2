import { expect, test } from "vitest";
import { parseDuration } from "./virtual-runtime.ts";

test.each([
  ["200ms", 200],
  ["5s", 5000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
  ["forever", Number.POSITIVE_INFINITY],
  [undefined, 0],
  ["soon", 0],
  ["-5s", 0],
])("%s lasts %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
