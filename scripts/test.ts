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
import { prepareRealNodes } from "../test/real-node/real-node.ts";
import { run, seconds } from "./run.ts";
import { closingLines, type Skipped, type Tally } from "./tally.ts";

async function prepare(): Promise<void> {
  const say = (line: string): void => console.log(line);
  await findRedis(say);
  if (!process.env.KUBEBUILDER_ASSETS) await buildControlPlane(say);
  await buildUpstreamSuite(say);
  await prepareRealNodes(say);
  await prepareTools(say);
}

async function ourTests(say: (line: string) => void): Promise<Tally> {
  const directory = await mkdtemp(join(tmpdir(), "jobferry-test-"));
  const file = join(directory, "tally.json");
  try {
    const args = [
      "run",
      "--project=quick",
      "--project=full",
      "--reporter=default",
      "--reporter=./scripts/tally-reporter.ts",
    ];
    const code = await run("vitest", args, say, { ...process.env, JOBFERRY_TALLY: file });
    const none: Tally = { passed: 0, failed: 0, skipped: [] };
    const tally = await readFile(file, "utf8").then(
      (text) => JSON.parse(text) as Tally,
      () => none,
    );
    // A file that does not load, or an error outside any test, fails the run without failing a test.
    return { ...tally, failed: code === 0 && tally !== none ? tally.failed : Math.max(tally.failed, 1) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The suite's own last lines tell how it went. */
async function upstreamTests(say: (line: string) => void): Promise<Tally> {
  let counts: { passed: number; failed: number } | undefined;
  const skipped: Skipped[] = [];
  const code = await run(process.execPath, ["test/conformance/run.ts"], (line) => {
    const sum = /^conformance: (\d+) passed, (\d+) failed/.exec(line);
    if (sum !== null) counts = { passed: Number(sum[1]), failed: Number(sum[2]) };
    const [, name, why = ""] = /^skipped: (\S+): (.*)$/.exec(line) ?? [];
    if (name !== undefined) skipped.push({ name, why });
    else say(line);
  });
  const { passed = 0, failed = 0 } = counts ?? {};
  return { passed, failed: code === 0 && counts !== undefined ? failed : Math.max(failed, 1), skipped };
}

async function main(): Promise<number> {
  const started = performance.now();
  await prepare();
  console.log(`ready to test after ${seconds(started)}`);
  const prefixed = (name: string) => (line: string) => console.log(`${name} | ${line}`);
  const tallies = await Promise.all([ourTests(prefixed("tests")), upstreamTests(prefixed("conformance"))]);
  console.log(`took ${seconds(started)}`);
  const { lines, failed } = closingLines(tallies);
  for (const line of lines) console.log(line);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof MissingToolError || error instanceof RedisMissingError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
