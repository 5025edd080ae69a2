import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aHubJob } from "../testing/hub-job.ts";
import { changedSince, formatTaken, mayHaveRun, type Taken, usedSentence, waitsSentence } from "./changes.ts";

const hash = (digit: string) => digit.repeat(64);
const took = (name: string, ...digits: string[]): Taken => ({ kind: "ConfigMap", name, hashes: digits.map(hash) });

describe("changedSince", () => {
  it.each<[string, string | undefined, Taken[] | undefined, string[]]>([
    ["nothing was noted", undefined, [took("a", "1")], []],
    ["nothing travels any more", "ConfigMap/a:1111111111", undefined, []],
    ["all is the same", "ConfigMap/a:1111111111,ConfigMap/b:2222222222", [took("b", "2"), took("a", "1")], []],
    [
      "one has changed",
      "ConfigMap/a:1111111111,ConfigMap/b:2222222222",
      [took("a", "1"), took("b", "3")],
      ["ConfigMap b"],
    ],
    ["one is gone", "ConfigMap/a:1111111111,ConfigMap/b:2222222222", [took("a", "1")], ["ConfigMap b"]],
    ["one has come", "", [took("a", "1")], ["ConfigMap a"]],
    ["there was none and is none", "", [], []],
    ["the manager has a new key", "ConfigMap/a:1111111111", [took("a", "5", "1")], []],
    ["somebody scribbled on it", "ConfigMap/a", [took("a", "1")], ["ConfigMap a"]],
  ])("%s", (_, noted, taken, want) => {
    expect(changedSince(noted, taken)).toEqual(want);
  });

  it("what is noted is never a change of itself", () => {
    const name = fc.stringMatching(/^[a-z0-9]([-.a-z0-9]{0,20}[a-z0-9])?$/);
    const digits = fc.stringMatching(/^[0-9a-f]{64}$/);
    const one = fc.record({ kind: fc.constantFrom("ConfigMap", "Secret"), name, hashes: fc.tuple(digits) });
    const all = fc.uniqueArray(one, { selector: ({ kind, name: of }) => `${kind}/${of}`, maxLength: 20 });
    fc.assert(
      fc.property(all, (taken) => {
        expect(changedSince(formatTaken(taken as Taken[]), taken as Taken[])).toEqual([]);
      }),
    );
  });
});

it("a Job has run once a cluster says that it began", () => {
  const job = aHubJob();
  expect(mayHaveRun({ ...job, status: {} })).toBe(false);
  expect(mayHaveRun({ ...job, status: { startTime: "2026-01-01T00:00:00Z" } })).toBe(true);
  expect(mayHaveRun({ ...job, status: { failed: 1 } })).toBe(true);
  expect(mayHaveRun({ ...job, status: { conditions: [{ type: "Suspended", status: "True" }] } })).toBe(true);
});

it("names what changed and how to go on, at a length that can be read", () => {
  const job = aHubJob({ metadata: { namespace: "team", name: "report" } });
  expect(waitsSentence(["ConfigMap words"], job)).toMatchInlineSnapshot(
    `"ConfigMap team/words changed on the hub since the Job was last dispatched: put the old contents back, or let it go on with the new ones: kubectl annotate job report -n team --overwrite jobferry.dev/on-reference-change=Use"`,
  );
  expect(usedSentence(["ConfigMap words", "Secret login"], job)).toMatchInlineSnapshot(
    `"ConfigMap team/words, Secret team/login changed on the hub since the Job was last dispatched; it goes on with the new contents"`,
  );
  const many = Array.from({ length: 200 }, (_, index) => `ConfigMap m${index}`);
  expect(usedSentence(many, job)).toContain("ConfigMap team/m4 and 195 more changed");
});
