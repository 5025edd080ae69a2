import { describe, expect, it } from "vitest";
import { FINDINGS, planOfFinding } from "./findings.ts";
import { runPlan } from "./run.ts";

describe("what went wrong once goes right on the simulated fleet:", () => {
  it.each(FINDINGS)("$name", async (finding) => {
    for (const [index] of finding.variants.entries()) {
      const { violations, trace } = await runPlan(planOfFinding(finding, index));
      const told = trace.join("\n");
      expect(violations, `variant ${index}`).toEqual([]);
      for (const line of finding.comesAbout) expect(told, `variant ${index}`).toMatch(line);
      if (finding.never !== undefined) expect(told, `variant ${index}`).not.toMatch(finding.never);
    }
  });
});
