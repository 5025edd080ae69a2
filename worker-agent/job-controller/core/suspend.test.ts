import { expect, it } from "vitest";
import { aJob, at } from "../testing/builders.ts";
import { suspendChange } from "./suspend.ts";

const suspendedJob = aJob().spec({ suspend: true }).build();
const runningJob = aJob().build();
const condition = (status: "True" | "False") => ({
  type: "Suspended",
  status,
  reason: status === "True" ? "JobSuspended" : "JobResumed",
  message: status === "True" ? "Job suspended" : "Job resumed",
});

it("SU-2, SU-4 suspending sets the condition and clears startTime", () => {
  const change = suspendChange(suspendedJob, { startTime: at(-60), active: 0 }, at(0));
  expect(change?.status.startTime).toBeUndefined();
  expect(change?.status.conditions).toEqual([
    { ...condition("True"), lastProbeTime: at(0), lastTransitionTime: at(0) },
  ]);
  expect(change?.event).toEqual({ type: "Normal", reason: "Suspended", message: "Job suspended" });
});

it("SU-8 resuming flips the condition and restarts startTime", () => {
  const change = suspendChange(runningJob, { conditions: [condition("True")] }, at(0));
  expect(change?.status.startTime).toBe(at(0));
  expect(change?.status.conditions).toMatchObject([condition("False")]);
  expect(change?.event.reason).toBe("Resumed");
});

it("SU-8 never appends a False condition", () =>
  expect(suspendChange(runningJob, { startTime: at(-60) }, at(0))).toBeUndefined());

it("SU-9 changes nothing that is as it should be", () => {
  expect(suspendChange(suspendedJob, { conditions: [condition("True")] }, at(0))).toBeUndefined();
  expect(suspendChange(runningJob, { conditions: [condition("False")] }, at(0))).toBeUndefined();
});
