import { expect, it } from "vitest";
import { closingLines } from "./tally.ts";

it("adds up, and names each skip with what it lacks", () => {
  const ours = { passed: 10, failed: 0, skipped: [{ name: "helm waits", why: "Helm is missing: no network" }] };
  const upstream = { passed: 65, failed: 1, skipped: [{ name: "TestX", why: "needs a hook" }] };
  expect(closingLines([ours, upstream])).toEqual({
    failed: 1,
    lines: [
      "skipped: helm waits: Helm is missing: no network",
      "skipped: TestX: needs a hook",
      "75 passed, 1 failed, 2 skipped",
    ],
  });
});

it("takes a skip without a reason for a failure", () => {
  const { failed, lines } = closingLines([{ passed: 1, failed: 0, skipped: [{ name: "later", why: "" }] }]);
  expect(failed).toBe(1);
  expect(lines).toEqual([
    'FAILED: later is skipped without a reason: use skip("what is missing")',
    "1 passed, 1 failed, 0 skipped",
  ]);
});
