/**
 * `npm test`: brings up what is missing, then runs our tests and Kubernetes' own Job suite side by side (the suite mostly
 * waits). The last line is the sum of both.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, buildUpstreamSuite } from "../test/control-plane/build.ts";
import { MissingToolError } from "../test/control-plane/go.ts";
import { prepareTools } from "../test/e2e/tooling/tools.ts";
import { findRedis, RedisMissingError } from "../test/harness/redis.ts";
import { run, seconds } from "./run.ts";

interface Tally {
  passed: number;
  failed: number;
}

async function prepare(): Promise<void> {
  const say = (line: string): void => console.log(line);
  await findRedis(say);
  if (!process.env.KUBEBUILDER_ASSETS) await buildControlPlane(say);
  await buildUpstreamSuite(say);
  await prepareTools(say);
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

/** The suite's own last line tells how it went. */
async function upstreamTests(say: (line: string) => void): Promise<Tally> {
  let tally: Tally | undefined;
  const code = await run(process.execPath, ["test/conformance/run.ts"], (line) => {
    const sum = /^conformance: (\d+) passed, (\d+) failed/.exec(line);
    if (sum !== null) tally = { passed: Number(sum[1]), failed: Number(sum[2]) };
    say(line);
  });
  const { passed = 0, failed = 0 } = tally ?? {};
  return { passed, failed: code === 0 && tally !== undefined ? failed : Math.max(failed, 1) };
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
