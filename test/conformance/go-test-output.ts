/** Reads what `go test -v` prints. */
type Verdict = "PASS" | "FAIL" | "SKIP";

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

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countResults(results: readonly CaseResult[]): Counts {
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length;
  return { passed: count("PASS"), failed: count("FAIL"), skipped: count("SKIP") };
}

/** Top-level tests with the number of their sub-tests that passed. */
export function passList(results: readonly CaseResult[]): string[] {
  return results
    .filter(({ name, verdict }) => verdict === "PASS" && !name.includes("/"))
    .map(({ name, seconds }) => {
      const below = results.filter((other) => other.verdict === "PASS" && other.name.startsWith(`${name}/`)).length;
      return `${name} (${seconds.toFixed(1)} s${below > 0 ? `, ${below} sub-tests` : ""})`;
    });
}
