import type { PodFailurePolicyRule } from "@jobferry/shared/job/types.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aJob, aPod } from "../testing/builders.ts";
import { EXIT_CODE_RANGES, type ExitCodeRange, exitCodeRangesOf, parseExitCodeRanges } from "./exit-code-ranges.ts";
import { failJobMessage, matchFailurePolicy } from "./pod-failure-policy.ts";

const onCodes = (operator: "In" | "NotIn", values: number[]): PodFailurePolicyRule => ({
  action: "FailJob",
  onExitCodes: { operator, values },
});
const onCondition: PodFailurePolicyRule = { action: "Ignore", onPodConditions: [{ type: "X", status: "True" }] };
const rules = [onCodes("In", [42]), onCodes("NotIn", [1]), onCondition];

const jobWith = (annotation: string | undefined, ...failureRules: PodFailurePolicyRule[]) =>
  aJob()
    .annotations(annotation === undefined ? {} : { [EXIT_CODE_RANGES]: annotation })
    .spec({ podFailurePolicy: { rules: failureRules } })
    .build();
const matches = (job: ReturnType<typeof jobWith>, exitCode: number) =>
  matchFailurePolicy(job, aPod(job, "p").failed({ exitCode }).build());

describe("parseExitCodeRanges", () => {
  const range = (from: number, to = from): ExitCodeRange => ({ from, to });

  it.each<[string, string, [number, ExitCodeRange[]][]]>([
    ["ranges", '{"0": "1-12,100-127"}', [[0, [range(1, 12), range(100, 127)]]]],
    ["single codes", '{"1": "3,7-7"}', [[1, [range(3), range(7)]]]],
    [
      "several rules",
      '{"0": "2", "1": "0-5"}',
      [
        [0, [range(2)]],
        [1, [range(0, 5)]],
      ],
    ],
    ["PF-8 negative codes", '{"0": "-10--5,-1,2-3"}', [[0, [range(-10, -5), range(-1), range(2, 3)]]]],
    ["PF-8 any 32-bit code", '{"1": "-2147483648-2147483647"}', [[1, [range(-(2 ** 31), 2 ** 31 - 1)]]]],
    ["no rule at all", "{}", []],
  ])("takes %s", (_, text, want) => expect(parseExitCodeRanges(text, rules)).toEqual({ ranges: new Map(want) }));

  it.each([
    ["what is not JSON", "1-12", "it is not a JSON object"],
    ["another JSON value", '["1-12"]', "it is not a JSON object"],
    ["null", "null", "it is not a JSON object"],
    ["a document without end", `{"0": "${"1".repeat(9000)}"}`, "it is not a JSON object of at most 8192 characters"],
    ["a rule that is not there", '{"3": "1"}', '"3" is not the position of an onExitCodes rule'],
    ["a rule about conditions", '{"2": "1"}', '"2" is not the position of an onExitCodes rule'],
    ["a position written otherwise", '{"00": "1"}', '"00" is not the position'],
    ["a name of the prototype", '{"__proto__": "1"}', '"__proto__" is not the position'],
    ["a list that is not a string", '{"0": [1, 12]}', "the ranges of rule 0 are not a string"],
    ["an empty list", '{"0": ""}', 'rule 0: "" is neither an exit code nor a range of them'],
    ["spaces", '{"0": "1, 2"}', 'rule 0: " 2" is neither'],
    ["an open range", '{"0": "5-"}', 'rule 0: "5-" is neither'],
    ["a range that ends before it begins", '{"0": "12-1"}', 'rule 0: "12-1" is neither'],
    ["more than 32 bits", '{"0": "1-2147483648"}', 'rule 0: "1-2147483648" is neither'],
    ["VC-33 a wrong order", '{"0": "5-9,1-3"}', 'rule 0: "1-3" does not begin after 9'],
    ["VC-32 an overlap", '{"0": "1-5,5-9"}', 'rule 0: "5-9" does not begin after 5'],
    ["VC-31 code 0 with In", '{"0": "0-5"}', 'rule 0: "0-5" contains 0'],
    ["more ranges than one can check", `{"0": "${"1,".repeat(64)}1"}`, "rule 0: there are 65 ranges, at most 64"],
    ["one bad rule among good ones", '{"0": "1", "1": "x"}', 'rule 1: "x" is neither'],
  ])("refuses %s", (_, text, want) =>
    expect(parseExitCodeRanges(text, rules)).toEqual({ problem: expect.stringContaining(want) as string }),
  );

  it("quotes a line at most of what was written", () => {
    const result = parseExitCodeRanges(`{"0": "${"x".repeat(5000)}"}`, rules);
    expect("problem" in result && result.problem.length).toBeLessThan(120);
  });
});

describe("exit-code ranges in a failure rule", () => {
  it.each([
    ["In, within a range", jobWith('{"0": "1-12,100-127"}', onCodes("In", [42])), 12, true],
    ["In, between ranges", jobWith('{"0": "1-12,100-127"}', onCodes("In", [42])), 13, false],
    ["In, among the values", jobWith('{"0": "1-12"}', onCodes("In", [42])), 42, true],
    ["NotIn, within a range", jobWith('{"0": "1-12"}', onCodes("NotIn", [42])), 12, false],
    ["NotIn, outside", jobWith('{"0": "1-12"}', onCodes("NotIn", [42])), 13, true],
    ["PF-7 code 0 never matches", jobWith('{"0": "-5-5"}', onCodes("NotIn", [42])), 0, false],
    ["the range of another rule", jobWith('{"0": "1-12"}', onCodes("In", [42]), onCodes("In", [43])), 13, false],
    ["a wrong annotation", jobWith('{"0": "12-1"}', onCodes("In", [42])), 5, false],
  ])("%s", (_, job, exitCode, want) => expect(matches(job, exitCode) !== undefined).toBe(want));

  it("PF-2, PF-13 the first matching rule decides and is told", () => {
    const job = jobWith('{"1": "10-20"}', onCodes("In", [42]), onCodes("In", [43]));
    expect(failJobMessage(job, [aPod(job, "p").failed({ exitCode: 15 }).facts()])).toBe(
      "Container main for pod ns/p failed with exit code 15 matching FailJob rule at index 1",
    );
  });
});

const anOperator = fc.constantFrom("In" as const, "NotIn" as const);
const aCode = fc.integer({ min: -300, max: 300 }).filter((code) => code !== 0);
/** Ascending and apart, above or below 0. */
const someRanges = fc
  .uniqueArray(fc.integer({ min: 1, max: 255 }), { minLength: 2, maxLength: 12 })
  .map((numbers) => numbers.toSorted((a, b) => a - b))
  .map((numbers) => numbers.flatMap((from, at) => (at % 2 === 0 ? [{ from, to: numbers[at + 1] ?? from }] : [])));
const written = (ranges: readonly ExitCodeRange[]): string =>
  ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(",");

describe("properties", () => {
  it("what is written is what is read", () =>
    fc.assert(
      fc.property(someRanges, (ranges) => {
        const text = JSON.stringify({ 0: written(ranges) });
        expect(parseExitCodeRanges(text, rules)).toEqual({ ranges: new Map([[0, ranges]]) });
      }),
    ));

  it("a range is the same as all of its codes in `values`", () =>
    fc.assert(
      fc.property(anOperator, someRanges, aCode, (operator, ranges, exitCode) => {
        const all = ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, step) => from + step));
        const annotated = jobWith(JSON.stringify({ 0: written(ranges) }), onCodes(operator, [300]));
        expect(matches(annotated, exitCode)).toEqual(
          matches(jobWith(undefined, onCodes(operator, [...all, 300])), exitCode),
        );
      }),
    ));

  it("whatever stands there, it is understood or changes nothing", () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), anOperator, aCode, (text, operator, exitCode) => {
        const annotated = jobWith(text, onCodes(operator, [42]));
        if (exitCodeRangesOf(annotated).size > 0) return;
        expect(matches(annotated, exitCode)).toEqual(matches(jobWith(undefined, onCodes(operator, [42])), exitCode));
      }),
    ));
});
