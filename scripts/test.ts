/**
 * `npm test`: brings up what is missing, then runs our tests and Kubernetes' own Job suite side by side (the suite mostly
 * waits). The last line is the sum of both.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, buildUpstreamSuite } from "../test/control-plane/build.ts";
import { MissingToolError } from "../test/control-plane/go.ts";
import { findRedis, RedisMissingError } from "../test/harness/redis.ts";
import { root, run, seconds } from "./run.ts";

interface Tally {
  passed: number;
  failed: number;
}

const conformance = "test/conformance/run.ts";

async function prepare(): Promise<void> {
  const say = (line: string): void => console.log(line);
  await findRedis(say);
  if (!process.env.KUBEBUILDER_ASSETS) await buildControlPlane(say);
  if (existsSync(join(root, conformance))) await buildUpstreamSuite(say);
}

async function ourTests(say: (line: string) => void): Promise<Tally> {
  const directory = await mkdtemp(join(tmpdir(), "jobferry-test-"));
  const report = join(directory, "report.json");
  try {
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const code = await run("vitest", args, say);
    const summary = JSON.parse(await readFile(report, "utf8").catch(() => "{}")) as {
      numPassedTests?: number;
      numFailedTests?: number;
    };
    const failed = summary.numFailedTests ?? 0;
    // A file that does not load, or an error outside any test, fails the run without failing a test.
    return { passed: summary.numPassedTests ?? 0, failed: code === 0 ? failed : Math.max(failed, 1) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Counts what `go test -v` prints, sub-tests included. */
async function upstreamTests(say: (line: string) => void): Promise<Tally> {
  const tally = { passed: 0, failed: 0 };
  if (!existsSync(join(root, conformance))) return tally;
  const code = await run(process.execPath, [conformance], (line) => {
    if (/^\s*--- PASS: /.test(line)) tally.passed++;
    if (/^\s*--- FAIL: /.test(line)) tally.failed++;
    say(line);
  });
  if (code !== 0) tally.failed = Math.max(tally.failed, 1);
  return tally;
}

async function main(): Promise<number> {
  const started = performance.now();
  await prepare();
  console.log(`ready to test after ${seconds(started)}`);
  const prefixed = (name: string) => (line: string) => console.log(`${name} | ${line}`);
  const tallies = await Promise.all([ourTests(prefixed("tests")), upstreamTests(prefixed("conformance"))]);
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
  console.log(`took ${seconds(started)}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof MissingToolError || error instanceof RedisMissingError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
