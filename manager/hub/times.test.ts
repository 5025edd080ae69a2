import { expect, it } from "vitest";
import { shiftTimes } from "./times.ts";

const condition = { type: "Complete", status: "True" as const, lastTransitionTime: "2026-01-01T01:00:00Z" };
const status = { startTime: "2026-01-01T00:00:00Z", succeeded: 1, conditions: [condition] };

it("moves every time of a status, and nothing else", () => {
  expect(shiftTimes(status, 3_600_000)).toEqual({
    startTime: "2026-01-01T01:00:00Z",
    succeeded: 1,
    conditions: [{ ...condition, lastTransitionTime: "2026-01-01T02:00:00Z" }],
  });
});

it("there and back again is where it was", () => {
  expect(shiftTimes(shiftTimes(status, 61_000), -61_000)).toEqual(status);
});
