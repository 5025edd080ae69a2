import { describe, expect, it } from "vitest";
import { age, duration } from "./age.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe("durations", () => {
  it.each([
    [-5 * second, "<invalid>"],
    [-second, "0s"],
    [0, "0s"],
    [119 * second, "119s"],
    [2 * minute, "2m"],
    [2 * minute + 5 * second, "2m5s"],
    [10 * minute + 5 * second, "10m"],
    [179 * minute, "179m"],
    [3 * hour, "3h"],
    [3 * hour + 20 * minute, "3h20m"],
    [8 * hour + 20 * minute, "8h"],
    [47 * hour, "47h"],
    [2 * day, "2d"],
    [3 * day + 4 * hour, "3d4h"],
    [9 * day, "9d"],
    [729 * day, "729d"],
    [800 * day, "2y70d"],
    [3000 * day, "8y"],
  ])("%d ms is %s", (ms, wanted) => {
    expect(duration(ms)).toBe(wanted);
  });

  it("since a time that is not known", () => {
    expect(age(undefined, 0)).toBe("<unknown>");
    expect(age("1970-01-01T00:00:00Z", 5000)).toBe("5s");
  });
});
