import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod } from "../testing/builders.ts";
import { indexState, pendingIndexes } from "./indexed.ts";

const job = aJob().indexed(6).build();
const pod = (index: number | string) => aPod(job).index(index);

describe("indexState", () => {
  it("does not exist for NonIndexed Jobs", () => expect(indexState(aJob().build(), {}, [])).toBeUndefined());

  it("IX-5, IX-6 joins the status and newly succeeded pods", () => {
    const pods = [
      pod(3).succeeded(),
      pod(4).succeeded().untracked(),
      pod(9).succeeded(),
      pod("x").succeeded(),
      pod(5).failed(),
    ].map((built) => built.facts());
    const state = indexState(job, { completedIndexes: "0-2" }, pods);
    expect(state?.previous.toString()).toBe("0-2");
    expect(state?.succeeded.toString()).toBe("0-3");
  });

  it("IX-10 counts an index once", () =>
    expect(indexState(job, {}, [pod(1).succeeded().facts(), pod(1).succeeded().facts()])?.succeeded.size).toBe(1));

  it("IX-11 forgets indexes beyond completions", () =>
    expect(indexState(job, { completedIndexes: "0,4-8" }, [])?.succeeded.toString()).toBe("0,4,5"));

  it("BI-1 has failed indexes only with backoffLimitPerIndex", () => {
    expect(indexState(job, {}, [])?.failed).toBeUndefined();
    const perIndex = aJob().indexed(6).spec({ backoffLimitPerIndex: 1 }).build();
    expect(indexState(perIndex, {}, [])?.failed?.size).toBe(0);
  });

  describe("with backoffLimitPerIndex", () => {
    const perIndex = aJob().indexed(6).spec({ backoffLimitPerIndex: 0 }).build();
    const failed = aPod(perIndex).index(0).failed().facts();
    const succeeded = aPod(perIndex).index(3).succeeded().facts();
    const state = (status: JobStatus, pods = [failed, succeeded]) => {
      const found = indexState(perIndex, status, pods);
      return { succeeded: found?.succeeded.toString(), failed: found?.failed?.toString() };
    };

    it("BI-2 extends what the status says and forgets what is out of range", () =>
      expect(state({ failedIndexes: "2,9" })).toEqual({ succeeded: "3", failed: "0,2" }));

    it("BI-12, VS-17 a completed index does not fail when its pod's phase flips", () =>
      expect(state({ completedIndexes: "0" })).toEqual({ succeeded: "0,3", failed: "" }));

    it("BI-12, VS-17 a failed index does not succeed when its pod's phase flips", () =>
      expect(state({ failedIndexes: "3" })).toEqual({ succeeded: "", failed: "0,3" }));
  });
});

describe("pendingIndexes (IX-8)", () => {
  const state = (completedIndexes: string) => {
    const found = indexState(job, { completedIndexes }, []);
    if (found === undefined) throw new Error("an Indexed Job has index state");
    return found;
  };
  const pods = [pod(1).phase("Running"), pod(3).phase("Running").deleting()].map((built) => built.facts());

  it.each([
    ["lowest first", "0", [], false, 3, [1, 2, 3]],
    ["active indexes are taken", "0", pods, false, 3, [2, 3, 4]],
    ["terminating ones hold their index under PR-2", "0", pods, true, 3, [2, 4, 5]],
    ["no more than there are", "0-4", [], false, 3, [5]],
    ["none left", "0-5", [], false, 3, []],
  ])("%s", (_, completed, running, hold, count, want) =>
    expect(pendingIndexes(job, state(completed), running, hold, count)).toEqual(want),
  );

  it("leaves failed indexes alone", () => {
    const perIndex = aJob().indexed(3).spec({ backoffLimitPerIndex: 0 }).build();
    const found = indexState(perIndex, { failedIndexes: "0" }, []);
    expect(found && pendingIndexes(perIndex, found, [], false, 5)).toEqual([1, 2]);
  });
});
