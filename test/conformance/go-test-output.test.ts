import { expect, it } from "vitest";
import { countResults, parseResult, passList } from "./go-test-output.ts";

const results = [
  "=== RUN   TestA",
  "    --- PASS: TestA/one (0.50s)",
  "    --- SKIP: TestA/two (0.00s)",
  "--- PASS: TestA (1.25s)",
  "    job_test.go:1: --- PASS: not a result (1s)",
  "--- FAIL: TestB (3s)",
].flatMap((line) => parseResult(line) ?? []);

it("reads results of tests and sub-tests", () => {
  expect(results.map(({ name, verdict }) => `${verdict} ${name}`)).toEqual([
    "PASS TestA/one",
    "SKIP TestA/two",
    "PASS TestA",
    "FAIL TestB",
  ]);
});

it("counts verdicts and lists what passed", () => {
  expect(countResults(results)).toEqual({ passed: 2, failed: 1, skipped: 1 });
  expect(passList(results)).toEqual(["TestA (1.3 s, 1 sub-tests)"]);
});
