import { describe, expect, it } from "vitest";
import { creationsSeen, deletionsSeen, expectCreations, expectDeletions, isSatisfied } from "./expectations.ts";
import { nothingWritten, staleCache } from "./write-record.ts";

describe("isSatisfied (SX-2)", () => {
  const timeout = 300_000;
  it.each([
    ["no record", undefined, 0, true],
    ["creations outstanding", expectCreations(2, 0), 0, false],
    ["all creations seen", creationsSeen(expectCreations(2, 0), 2), 0, true],
    ["SX-6 more seen than expected", creationsSeen(expectCreations(2, 0), 5), 0, true],
    ["deletions outstanding", expectDeletions(1, 0), 0, false],
    ["all deletions seen", deletionsSeen(expectDeletions(1, 0), 1), 0, true],
    ["deletions do not stand for creations", deletionsSeen(expectCreations(1, 0), 1), 0, false],
    ["K-7 just before the timeout", expectCreations(1, 0), timeout, false],
    ["K-7 after the timeout", expectCreations(1, 0), timeout + 1, true],
  ])("%s", (_, expected, now, want) => expect(isSatisfied(expected, now, timeout)).toBe(want));
});

describe("staleCache (SW-8)", () => {
  it.each([
    ["nothing written", nothingWritten, { job: "", pods: "" }, undefined],
    ["both reached", { job: "12", pods: "13" }, { job: "12", pods: "14" }, undefined],
    ["pods lag", { job: "12", pods: "13" }, { job: "12", pods: "9" }, "pods"],
    ["jobs lag", { job: "12", pods: "13" }, { job: "11", pods: "13" }, "jobs"],
    ["a cache that is listing again", { job: "12", pods: "" }, { job: "", pods: "" }, "jobs"],
  ])("%s", (_, record, caches, want) => expect(staleCache(record, caches)).toBe(want));
});
