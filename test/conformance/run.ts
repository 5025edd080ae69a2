/**
 * Kubernetes' own Job integration tests against our controller: `node test/conformance/run.ts [PATTERN]`, where PATTERN (a
 * regular expression) chooses tests by name. The tests mostly wait, so several run side by side (CONFORMANCE_LANES), each in
 * a process of its own; what a test prints comes in one piece. Then follow the cases that were skipped and why, those that did
 * not end as expected.txt says, and as the last line `conformance: N passed, N failed, N skipped`. Each counts cases: a test
 * with sub-tests is not one. The exit code is 0 when nothing failed and all ended as expected.
 */
import { spawn } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { buildControlPlane, buildUpstreamSuite } from "../control-plane/build.ts";
import { guardedDirectory } from "../harness/guarded-process.ts";
import { bundleAgent } from "./agent-bundle.ts";
import { readExpectation, surprises } from "./expectation.ts";
import { type CaseResult, countResults, leafCases, parseResult } from "./go-test-output.ts";

/** Where the API server of the tests keeps the certificate it makes for itself, below TEST_SRCDIR/TEST_WORKSPACE. */
const CERTIFICATES = "k8s.io/kubernetes@v1.36.3/cmd/kube-apiserver/app/testing/testdata";

/** The log that the suite's adapter keeps of the controller, in its temporary folder. */
const CONTROLLER_LOG = "job-controller-under-test.log";
const KEPT_LOG = join(tmpdir(), "jobferry-conformance-controller.log");

/** The programs below the tests talk a lot; what matters are the tests' own lines. */
const NOISE = /^[IWE]\d{4} \d\d:\d\d:\d\d|^\{"level"|^=== |^\s+(testserver|controller|gc_controller|\w+)\.go:\d+: /;
const OWN_LINE = /^\s+(job_test|external_controller_test)\.go:/;

/** Beside our own tests two lanes are done long before those, and tests that race the controller have less company. */
const LANES = Number(process.env.CONFORMANCE_LANES ?? "2");
const TEST_LIMIT = "4m";
/** A test that hangs may not heed its own limit. */
const KILL_AFTER_MS = 300_000;

/** Alpha: each of its cases starts an API server for eight seconds only to skip itself. */
const GANG_SCHEDULING = "TestJobGangScheduling";

interface Suite {
  readonly binary: string;
  readonly env: NodeJS.ProcessEnv;
}

async function prepare(directory: string): Promise<Suite> {
  const [assets, binary, agent] = await Promise.all([
    buildControlPlane(),
    buildUpstreamSuite(),
    bundleAgent(join(directory, "agent")),
  ]);
  await mkdir(join(directory, "src", CERTIFICATES), { recursive: true });
  const flags = ["jobs", "--unmanaged", "--kubeconfig", "{kubeconfig}", "--metrics-port", "{port}"];
  return {
    binary,
    env: {
      ...process.env,
      PATH: `${assets}${delimiter}${process.env.PATH ?? ""}`,
      TMPDIR: directory,
      TEST_SRCDIR: directory,
      TEST_WORKSPACE: "src",
      NODE_COMPILE_CACHE: join(directory, "compile-cache"),
      JOB_CONTROLLER: [...agent, ...flags].join(" "),
    },
  };
}

async function runSuite(
  { binary, env }: Suite,
  cwd: string,
  flags: string[],
): Promise<{ code: number; lines: string[] }> {
  const child = spawn(binary, flags, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: KILL_AFTER_MS,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  child.stderr.resume();
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    if (OWN_LINE.test(line) || !NOISE.test(line)) lines.push(line);
  return { code: await ended, lines };
}

/** Runs one top-level test; a process that ends badly without a failed case (a panic, a time-out) counts as one. */
async function runTest(suite: Suite, directory: string, test: string): Promise<CaseResult[]> {
  const { code, lines } = await runSuite(suite, directory, [
    "-test.v",
    `-test.timeout=${TEST_LIMIT}`,
    `-test.run=^${test}$`,
  ]);
  for (const line of lines) if (line !== "PASS") console.log(line);
  const results = lines.flatMap((line) => parseResult(line) ?? []);
  if (code !== 0 && !results.some(({ verdict }) => verdict === "FAIL"))
    results.push({ name: `${test}/(process)`, verdict: "FAIL", seconds: 0 });
  return results;
}

async function main(): Promise<void> {
  const { path: directory, remove } = guardedDirectory("conformance");
  const suite = await prepare(directory);
  const pattern = new RegExp(process.argv[2] ?? "");
  const listed = await runSuite(suite, directory, ["-test.list=^Test"]);
  const waiting = listed.lines.filter(
    (line) => /^Test\w+$/.test(line) && line !== GANG_SCHEDULING && pattern.test(line),
  );
  const results: CaseResult[] = [];
  const began = performance.now();
  const lane = async (): Promise<void> => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift())
      results.push(...(await runTest(suite, directory, test)));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const cases = leafCases(results);
  if (cases.some(({ verdict }) => verdict === "FAIL")) await copyFile(join(directory, CONTROLLER_LOG), KEPT_LOG);
  console.log(`\nended after ${((performance.now() - began) / 1000).toFixed(0)} s`);
  report(cases, (test) => test !== GANG_SCHEDULING && pattern.test(test));
  await remove();
}

function report(cases: readonly CaseResult[], ran: (test: string) => boolean): void {
  const expected = readExpectation();
  const { passed, failed, skipped } = countResults(cases);
  for (const { name, verdict } of cases)
    if (verdict === "SKIP") console.log(`skipped: ${name}: ${expected.get(name)?.why ?? "not expected"}`);
  const unexpected = surprises(expected, cases, ran);
  for (const sentence of unexpected) console.log(`unexpected: ${sentence}`);
  if (failed > 0) console.log(`the controller's log is in ${KEPT_LOG}`);
  console.log(`conformance: ${passed} passed, ${failed + unexpected.length} failed, ${skipped} skipped`);
  process.exitCode = failed + unexpected.length === 0 && passed > 0 ? 0 : 1;
}

await main();
