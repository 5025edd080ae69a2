/** Tells `npm test` what became of the vitest tests, in the file that JOBFERRY_TALLY names, and prints which files took longest. */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { root } from "./run.ts";
import type { Skipped, Tally } from "./tally.ts";

const SHOWN = 15;

export default class TallyReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  readonly #skipped: Skipped[] = [];

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === "passed") this.#passed++;
    else if (result.state === "failed") this.#failed++;
    else if (result.state === "skipped")
      this.#skipped.push({ name: `${test.module.relativeModuleId} > ${test.fullName}`, why: result.note ?? "" });
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const slowest = modules
      .map((module) => ({ file: relative(root, module.moduleId), seconds: module.diagnostic().duration / 1000 }))
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, SHOWN);
    console.log("slowest files:");
    for (const { file, seconds } of slowest) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${file}`);
    const tally: Tally = { passed: this.#passed, failed: this.#failed, skipped: this.#skipped };
    const { JOBFERRY_TALLY: file } = process.env;
    if (file !== undefined) writeFileSync(file, JSON.stringify(tally));
  }
}
