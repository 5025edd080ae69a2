import { describe, expect, it } from "vitest";
import { parseExpectation, readExpectation, surprises } from "./expectation.ts";
import { parseResult } from "./go-test-output.ts";

const expected = parseExpectation("# a comment\nPASS TestA/one\nSKIP TestA/two: needs a hook\n\nPASS TestB\n");
const results = (...lines: string[]) => lines.flatMap((line) => parseResult(`--- ${line} (1s)`) ?? []);
const ALL = ["PASS: TestA/one", "SKIP: TestA/two", "PASS: TestB"];
const everything = (): boolean => true;

describe("the upstream suite's expectation", () => {
  it("is met by just what it names", () => {
    expect(surprises(expected, results(...ALL), everything)).toEqual([]);
  });

  it.each([
    ["a pass that is missing", ["SKIP: TestA/two", "PASS: TestB"], "TestA/one should pass, but did not run"],
    [
      "a pass that became a skip",
      ["SKIP: TestA/one", "SKIP: TestA/two", "PASS: TestB"],
      "TestA/one skipped itself, but should pass",
    ],
    ["a skip that is missing", ["PASS: TestA/one", "PASS: TestB"], "TestA/two should skip itself, but did not run"],
    [
      "a skip that passes",
      ["PASS: TestA/one", "PASS: TestA/two", "PASS: TestB"],
      "TestA/two passed, but is listed as skipped: change its line in test/conformance/expected.txt",
    ],
    ["a case that is new", [...ALL, "SKIP: TestC"], "TestC is new (SKIP): add it to test/conformance/expected.txt"],
  ])("notices %s", (_, lines, sentence) => {
    expect(surprises(expected, results(...lines), everything)).toEqual([sentence]);
  });

  it("says nothing of tests that were not asked for, nor of failures", () => {
    expect(surprises(expected, results("FAIL: TestB"), (test) => test === "TestB")).toEqual([]);
  });

  it.each(["PASS", "PASS a b", "SKIP TestA/two", "FAIL TestA: because"])("refuses the line %j", (line) => {
    expect(() => parseExpectation(`PASS TestX\n${line}`)).toThrow(`expected.txt:2: write "PASS name" or`);
  });

  it("of this version names cases, and says why each skip is one", () => {
    const all = [...readExpectation()];
    expect(all.filter(([, { verdict }]) => verdict === "PASS").length).toBeGreaterThan(60);
    expect(all.filter(([, { verdict, why }]) => verdict === "SKIP" && why.length < 10)).toEqual([]);
  });
});
