import { describe, expect, it } from "vitest";
import { FINDINGS, planOfFinding, whatIsWrong } from "./findings.ts";
import { runPlan } from "./run.ts";

describe("what went wrong once goes right on the simulated fleet:", () => {
  it.each(FINDINGS)("$name", async (finding) => {
    for (const [index] of finding.variants.entries())
      expect(whatIsWrong(finding, await runPlan(planOfFinding(finding, index))), `variant ${index}`).toBeUndefined();
  });
});
