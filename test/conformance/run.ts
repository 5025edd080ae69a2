/**
 * Kubernetes' own Job integration tests against our controller: `node test/conformance/run.ts [go test flags]`, for example
 * `-test.run 'TestIndexedJob$'`. Prints what the tests print, then the list of those that passed and, as the last line,
 * `conformance: N passed, N failed, N skipped`; the exit code is 0 when all that did not skip themselves passed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { buildControlPlane, buildUpstreamSuite } from "../control-plane/build.ts";
import { bundleAgent } from "./agent-bundle.ts";
import { type CaseResult, countResults, parseResult, passList } from "./go-test-output.ts";

/** Where the API server of the tests keeps the certificate it makes for itself, below TEST_SRCDIR/TEST_WORKSPACE. */
const CERTIFICATES = "k8s.io/kubernetes@v1.36.3/cmd/kube-apiserver/app/testing/testdata";

/** The log that the suite's adapter keeps of the controller, in the temporary folder. */
const CONTROLLER_LOG = "job-controller-under-test.log";

/** The tests talk a lot about etcd; what matters are their own lines. */
const NOISE = /^[IWE]\d{4} \d\d:\d\d:\d\d|^\{"level"/;

async function prepare(directory: string): Promise<{ suite: string; env: NodeJS.ProcessEnv }> {
  const [assets, suite, agent] = await Promise.all([
    buildControlPlane(),
    buildUpstreamSuite(),
    bundleAgent(join(directory, "agent")),
  ]);
  await mkdir(join(directory, "src", CERTIFICATES), { recursive: true });
  const flags = ["jobs", "--unmanaged", "--kubeconfig", "{kubeconfig}", "--metrics-port", "{port}"];
  return {
    suite,
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

/** Every line is passed on as it comes, so that a watcher sees progress. */
async function collect(child: ChildProcess): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  if (child.stdout === null) throw new Error("the suite has no output to read");
  for await (const line of createInterface({ input: child.stdout })) {
    if (NOISE.test(line)) continue;
    console.log(line);
    const result = parseResult(line);
    if (result !== undefined) results.push(result);
  }
  return results;
}

const directory = await mkdtemp(join(tmpdir(), "jobferry-conformance-"));
const { suite, env } = await prepare(directory);
const began = performance.now();
const child = spawn(suite, ["-test.v", "-test.timeout=60m", ...process.argv.slice(2)], {
  cwd: directory,
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
const results = await collect(child);
const code = await ended;
const { passed, failed, skipped } = countResults(results);
console.log(`\npassed in ${((performance.now() - began) / 1000).toFixed(0)} s:`);
for (const line of passList(results)) console.log(`  ${line}`);
const good = code === 0 && failed === 0 && passed > 0;
if (good) await rm(directory, { recursive: true, force: true });
else console.log(`the controller's log is ${join(directory, CONTROLLER_LOG)}`);
console.log(`conformance: ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = good ? 0 : 1;
