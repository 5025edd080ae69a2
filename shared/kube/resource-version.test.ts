import { expect, it } from "vitest";
import { isNewerVersion } from "./resource-version.ts";

it.each([
  ["10", "9", true],
  ["9", "10", false],
  ["99999999999999999999", "99999999999999999998", true],
  ["7", "7", false],
  ["7", "", true],
])("%s is newer than %s: %s", (one, other, newer) => expect(isNewerVersion(one, other)).toBe(newer));
