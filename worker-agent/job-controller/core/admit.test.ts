import { describe, expect, it } from "vitest";
import { aJob } from "../testing/builders.ts";
import { admit, type Claim, isClaimed } from "./admit.ts";

const ours: Claim = { managedBy: "jobferry.dev/worker-agent" };
const managed = (managedBy: string) => aJob().spec({ managedBy }).build();

describe("isClaimed", () => {
  it.each([
    ["CL-1 no managedBy", aJob().build(), "unmanaged", true],
    ["CL-1 reserved value", managed("kubernetes.io/job-controller"), "unmanaged", true],
    ["CL-1 other value", managed("example.com/x"), "unmanaged", false],
    ["CL-14 own value", managed("jobferry.dev/worker-agent"), ours, true],
    ["CL-14 other value", managed("jobferry.dev/worker-agents"), ours, false],
    ["CL-14 no value", aJob().build(), ours, false],
    ["CL-14 reserved value", managed("kubernetes.io/job-controller"), ours, false],
  ] as const)("%s", (_, job, claim, want) => expect(isClaimed(job, claim)).toBe(want));
});

describe("admit", () => {
  const withCondition = (type: string, status: "True" | "False") =>
    aJob()
      .status({ conditions: [{ type, status }] })
      .build();
  it.each([
    ["CL-6 missing", undefined, false, "gone"],
    ["CL-3 external", managed("example.com/x"), false, "external"],
    ["CL-8 Complete", withCondition("Complete", "True"), false, "finished"],
    ["CL-8 Failed", withCondition("Failed", "True"), true, "finished"],
    ["CL-7 Failed=False is not finished", withCondition("Failed", "False"), false, "sync"],
    ["CL-7 interim is not finished", withCondition("SuccessCriteriaMet", "True"), false, "sync"],
    ["CL-9 terminal write not seen yet", aJob().build(), true, "finish-unseen"],
    [
      "CL-10 unknown mode",
      aJob()
        .spec({ completionMode: "Other" as "Indexed" })
        .build(),
      false,
      "unknown-mode",
    ],
    ["an ordinary Job", aJob().build(), false, "sync"],
  ] as const)("%s", (_, job, finishWritten, want) => expect(admit(job, "unmanaged", finishWritten)).toBe(want));

  it("CL-10 treats a missing mode as NonIndexed", () => {
    const { completionMode: _, ...spec } = aJob().build().spec;
    expect(admit({ ...aJob().build(), spec }, "unmanaged", false)).toBe("sync");
  });
});
