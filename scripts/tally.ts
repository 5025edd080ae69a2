/** What became of tests, whoever ran them, and how a run ends. */
export interface Skipped {
  readonly name: string;
  /** The component that is missing, or why the test cannot run at all. */
  readonly why: string;
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skipped[];
}

/** Its last line is `N passed, N failed, N skipped`. A skip that does not say what is missing is a failure: nobody could act on it. */
export function closingLines(tallies: readonly Tally[]): { lines: string[]; failed: number } {
  const skipped = tallies.flatMap((tally) => tally.skipped);
  const silent = skipped.filter(({ why }) => why === "");
  const told = skipped.filter(({ why }) => why !== "");
  const sum = (count: (tally: Tally) => number): number => tallies.reduce((total, tally) => total + count(tally), 0);
  const failed = sum((tally) => tally.failed) + silent.length;
  return {
    failed,
    lines: [
      ...silent.map(({ name }) => `FAILED: ${name} is skipped without a reason: use skip("what is missing")`),
      ...told.map(({ name, why }) => `skipped: ${name}: ${why}`),
      `${sum((tally) => tally.passed)} passed, ${failed} failed, ${told.length} skipped`,
    ],
  };
}
