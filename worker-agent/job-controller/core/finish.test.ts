import { describe, expect, it } from "vitest";
import { aJob, at, NOW } from "../testing/builders.ts";
import { mayFinish, terminalEvents, withInterim, withTerminal } from "./finish.ts";
import { completionsReached } from "./outcome.ts";
import type { Outcome } from "./types.ts";

const failure: Outcome = { interim: "FailureTarget", reason: "R", message: "M", recorded: false };
const fresh = { startTime: at(-5), terminating: 0, uncountedTerminatedPods: {} };

describe("withInterim", () => {
  it("CD-2 adds the condition once", () => {
    expect(withInterim({}, failure, NOW).conditions).toEqual([
      {
        type: "FailureTarget",
        status: "True",
        reason: "R",
        message: "M",
        lastProbeTime: at(0),
        lastTransitionTime: at(0),
      },
    ]);
    expect(withInterim(fresh, { ...failure, recorded: true }, NOW)).toBe(fresh);
    expect(withInterim(fresh, undefined, NOW)).toBe(fresh);
  });

  it("CD-7, CD-11 leaves foreign entries alone", () => {
    const conditions = [
      { type: "FailureTarget", status: "False" as const },
      { type: "example.com/own", status: "True" as const },
    ];
    expect(withInterim({ conditions }, failure, NOW).conditions).toMatchObject([
      ...conditions,
      { type: "FailureTarget", status: "True" },
    ]);
  });
});

it.each([
  ["CD-4 all accounted", failure, fresh, false, true],
  ["CD-4 no outcome", undefined, fresh, false, false],
  ["CD-4 cut", failure, fresh, true, false],
  ["CD-4 uncounted success", failure, { ...fresh, uncountedTerminatedPods: { succeeded: ["a"] } }, false, false],
  ["CD-4 uncounted failure", failure, { ...fresh, uncountedTerminatedPods: { failed: ["a"] } }, false, false],
  ["CD-4 terminating", failure, { ...fresh, terminating: 1 }, false, false],
])("%s", (_, outcome, status, cut, want) => expect(mayFinish(outcome, status, cut)).toBe(want));

describe("withTerminal", () => {
  const job = aJob().build();

  it("CD-6 Failed has no completionTime", () => {
    const status = withTerminal(job, fresh, failure, NOW);
    expect(status.completionTime).toBeUndefined();
    expect(status.conditions).toMatchObject([{ type: "Failed", status: "True", reason: "R", message: "M" }]);
  });

  it("SU-9 turns an existing Failed=False instead of adding another", () => {
    const conditions = [{ type: "Failed", status: "False" as const }];
    expect(withTerminal(job, { ...fresh, conditions }, failure, NOW).conditions).toMatchObject([
      { type: "Failed", status: "True" },
    ]);
  });

  it("SU-12 gives a Job that finishes while suspended a startTime, unless it never had anything to run", () => {
    const suspended = aJob().spec({ suspend: true }).build();
    expect(withTerminal(suspended, {}, completionsReached, NOW)).toMatchObject({ startTime: at(0) });
    const empty = aJob().spec({ suspend: true, completions: 0 }).build();
    expect(withTerminal(empty, {}, completionsReached, NOW).startTime).toBeUndefined();
  });

  it("VS-26 never completes before it started, whoever's clock was wrong", () =>
    expect(withTerminal(job, { startTime: at(60) }, completionsReached, NOW).completionTime).toBe(at(60)));
});

describe("terminalEvents", () => {
  const reasons = (job = aJob().build(), succeeded = 1, outcome = completionsReached) =>
    terminalEvents(job, { succeeded }, outcome).map(({ type, reason }) => `${type} ${reason}`);

  it("CD-9 tells the outcome", () => {
    expect(reasons()).toEqual(["Normal Completed"]);
    expect(reasons(aJob().build(), 0, failure)).toEqual(["Warning R"]);
  });

  it("CD-10 complains about too many successes", () => {
    expect(reasons(aJob().build(), 2)).toEqual(["Warning TooManySucceededPods", "Normal Completed"]);
    expect(reasons(aJob().workQueue(3).build(), 3)).toEqual(["Normal Completed"]);
  });
});
