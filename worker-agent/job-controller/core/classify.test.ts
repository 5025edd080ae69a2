import { describe, expect, it } from "vitest";
import { aJob, aPod } from "../testing/builders.ts";
import { newlyFinished } from "./classify.ts";

const none = { succeeded: new Set<string>(), failed: new Set<string>() };
const names = (pods: { pod: { metadata: { name?: string } } }[]) => pods.map(({ pod }) => pod.metadata.name);

describe("factsOf", () => {
  const lenient = aJob().build();
  const strict = aJob().spec({ podReplacementPolicy: "Failed" }).build();
  const policy = aJob()
    .spec({ podFailurePolicy: { rules: [] } })
    .build();
  const running = (job = lenient) => aPod(job).phase("Running");

  it.each([
    ["CT-1 running", running().facts(), { active: true, terminating: false, failed: false }],
    ["CT-1 phase Unknown", running().phase("Unknown").facts(), { active: true }],
    ["CT-2 running and marked", running().deleting().facts(), { active: false, terminating: true }],
    ["CT-4 marked, TerminatingOrFailed", running().deleting().facts(), { failed: true }],
    ["CT-4 marked, policy Failed", running(strict).deleting().facts(), { failed: false, terminating: true }],
    ["CT-4 marked, failure policy", running(policy).deleting().facts(), { failed: false }],
    ["CT-4 succeeded and marked", aPod(lenient).succeeded().deleting().facts(), { failed: false, succeeded: true }],
    ["CT-2 failed and marked", aPod(lenient).failed().deleting().facts(), { failed: true, terminating: false }],
    ["CT-3 ready", running().ready().facts(), { ready: true, active: true }],
  ])("%s", (_, facts, want) => expect(facts).toMatchObject(want));

  it("IX-9 knows only indexes below completions", () => {
    const job = aJob().indexed(2).build();
    expect(aPod(job).index(1).facts().index).toBe(1);
    for (const wrong of ["2", "-1", "x", ""]) expect(aPod(job).index(wrong).facts().index).toBeUndefined();
    expect(aPod(job).facts().index).toBeUndefined();
  });
});

describe("newlyFinished (CT-6)", () => {
  const job = aJob().build();

  it("takes tracked finished pods once", () => {
    const pods = [
      aPod(job, "s").succeeded().facts(),
      aPod(job, "f").failed().facts(),
      aPod(job, "running").phase("Running").facts(),
      aPod(job, "untracked").succeeded().untracked().facts(),
      aPod(job, "awaited")
        .failed()
        .facts(new Set(["uid-awaited"])),
      aPod(job, "counted-s").succeeded().facts(),
      aPod(job, "counted-f").failed().facts(),
    ];
    const known = { succeeded: new Set(["uid-counted-s"]), failed: new Set(["uid-counted-f"]) };
    const { succeeded, failed } = newlyFinished(job, pods, known);
    expect(names(succeeded)).toEqual(["s"]);
    expect(names(failed)).toEqual(["f"]);
  });

  it("consults only the list of its own kind for a success", () => {
    const pods = [aPod(job, "flipped").succeeded().facts()];
    const known = { succeeded: new Set<string>(), failed: new Set(["uid-flipped"]) };
    expect(names(newlyFinished(job, pods, known).succeeded)).toEqual(["flipped"]);
  });

  it("VS-10 finds no failure in a success that is listed", () => {
    const pods = [aPod(job, "flipped").failed().facts()];
    const known = { succeeded: new Set(["uid-flipped"]), failed: new Set<string>() };
    expect(newlyFinished(job, pods, known)).toEqual({ succeeded: [], failed: [] });
  });

  it("needs a valid index for Indexed Jobs", () => {
    const indexed = aJob().indexed(1).build();
    const pods = [aPod(indexed, "valid").index(0).failed().facts(), aPod(indexed, "beyond").index(1).failed().facts()];
    expect(names(newlyFinished(indexed, pods, none).failed)).toEqual(["valid"]);
  });
});
