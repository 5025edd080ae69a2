/** Reads what `go test -v` prints. */
export type Verdict = "PASS" | "FAIL" | "SKIP";

export interface CaseResult {
  readonly name: string;
  readonly verdict: Verdict;
  readonly seconds: number;
}

const RESULT = /^\s*--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)s\)/;

export function parseResult(line: string): CaseResult | undefined {
  const match = RESULT.exec(line);
  if (match === null) return undefined;
  const [, verdict, name = "", seconds] = match;
  return { name, verdict: verdict as Verdict, seconds: Number(seconds) };
}

/**
 * The cases themselves: a test with sub-tests only sums them up, and passes even if all of them skipped. It counts when it failed
 * on its own, after sub-tests that passed.
 */
export function leafCases(results: readonly CaseResult[]): CaseResult[] {
  return results.filter(({ name, verdict }) => {
    const below = results.filter((other) => other.name.startsWith(`${name}/`));
    return below.length === 0 || (verdict === "FAIL" && !below.some((other) => other.verdict === "FAIL"));
  });
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countResults(cases: readonly CaseResult[]): Counts {
  const count = (verdict: Verdict): number => cases.filter((result) => result.verdict === verdict).length;
  return { passed: count("PASS"), failed: count("FAIL"), skipped: count("SKIP") };
}
