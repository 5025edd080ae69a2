/** What becomes of each case of the upstream suite, by name (expected.txt): a pass that is missing or a skip that is new fails the run. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CaseResult, Verdict } from "./go-test-output.ts";

const EXPECTED_FILE = "test/conformance/expected.txt";

export interface Expected {
  readonly verdict: Verdict;
  /** Why a case is skipped. */
  readonly why: string;
}

/** Lines of `PASS name` and `SKIP name: why`; empty ones and those that begin with `#` are for the reader. */
export function parseExpectation(text: string): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const match = /^(?:(PASS) (\S+)|(SKIP) (\S+): (.+))$/.exec(line);
    const [, pass, passed, , skipped, why = ""] = match ?? [];
    const name = passed ?? skipped;
    if (name === undefined)
      throw new Error(`${EXPECTED_FILE}:${index + 1}: write "PASS name" or "SKIP name: why", not "${line}"`);
    if (expected.has(name)) throw new Error(`${EXPECTED_FILE}:${index + 1}: ${name} is there twice`);
    expected.set(name, { verdict: pass === undefined ? "SKIP" : "PASS", why });
  }
  return expected;
}

export const readExpectation = (): Map<string, Expected> =>
  parseExpectation(readFileSync(join(import.meta.dirname, "expected.txt"), "utf8"));

/** Sentences about cases that ended other than expected; `ran` says which top-level tests were asked for. Failures speak for themselves. */
export function surprises(
  expected: ReadonlyMap<string, Expected>,
  cases: readonly CaseResult[],
  ran: (test: string) => boolean,
): string[] {
  const seen = new Map(cases.map((result) => [result.name, result.verdict]));
  const found: string[] = [];
  for (const [name, { verdict }] of expected) {
    if (!ran(name.split("/")[0] ?? "") || seen.has(name)) continue;
    found.push(`${name} should ${verdict === "PASS" ? "pass" : "skip itself"}, but did not run`);
  }
  for (const [name, verdict] of seen) {
    const wanted = expected.get(name)?.verdict;
    if (verdict === "FAIL" || verdict === wanted) continue;
    if (wanted === undefined) found.push(`${name} is new (${verdict}): add it to ${EXPECTED_FILE}`);
    else if (verdict === "SKIP") found.push(`${name} skipped itself, but should pass`);
    else found.push(`${name} passed, but is listed as skipped: change its line in ${EXPECTED_FILE}`);
  }
  return found;
}
