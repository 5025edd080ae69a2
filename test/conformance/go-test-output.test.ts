import { expect, it } from "vitest";
import { countResults, leafCases, parseResult } from "./go-test-output.ts";

const read = (...lines: string[]) => lines.flatMap((line) => parseResult(line) ?? []);
const named = (results: readonly { name: string; verdict: string }[]): string[] =>
  results.map(({ name, verdict }) => `${verdict} ${name}`);

const results = read(
  "=== RUN   TestA",
  "    --- PASS: TestA/one (0.50s)",
  "    --- SKIP: TestA/two (0.00s)",
  "--- PASS: TestA (1.25s)",
  "    job_test.go:1: --- PASS: not a result (1s)",
  "--- FAIL: TestB (3s)",
);

it("reads results of tests and sub-tests", () => {
  expect(named(results)).toEqual(["PASS TestA/one", "SKIP TestA/two", "PASS TestA", "FAIL TestB"]);
});

it("counts cases, not the tests that sum them up", () => {
  expect(countResults(leafCases(results))).toEqual({ passed: 1, failed: 1, skipped: 1 });
});

it("counts no pass for a test whose sub-tests all skipped", () => {
  const all = read("    --- SKIP: TestC/one (0s)", "    --- SKIP: TestC/two (0s)", "--- PASS: TestC (2s)");
  expect(countResults(leafCases(all))).toEqual({ passed: 0, failed: 0, skipped: 2 });
});

it("counts one failure for a failed sub-test, and one for a test that failed after its sub-tests passed", () => {
  const below = read("    --- FAIL: TestD/one (0s)", "    --- PASS: TestD/two (0s)", "--- FAIL: TestD (2s)");
  const after = read("    --- PASS: TestE/one (0s)", "--- FAIL: TestE (2s)", "--- PASS: TestEE (2s)");
  expect(named(leafCases(below))).toEqual(["FAIL TestD/one", "PASS TestD/two"]);
  expect(named(leafCases(after))).toEqual(["PASS TestE/one", "FAIL TestE", "PASS TestEE"]);
});
