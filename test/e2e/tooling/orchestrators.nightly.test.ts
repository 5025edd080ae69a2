/** Orchestrators that look at a Job's pods and their output, each whole and unchanged, on a hub that shows pods. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StandInLogFleet, startLogFleet } from "../pods/log-fleet.ts";
import { runTasks, servesLines, waitsOnBusyHub } from "./airflow.ts";
import { findTool, type Tool } from "./tools.ts";
import { exitsWith, jobManifest, User } from "./user.ts";

const airflow = await findTool("Airflow");
const dagster = await findTool("Dagster");
const prefect = await findTool("Prefect");

let log: StandInLogFleet;
beforeAll(async () => {
  // They ask every few seconds, and read logs after the end.
  log = await startLogFleet({ agentFlags: ["--retention-seconds", "600"] });
}, 300_000);
afterAll(() => log?.stop());

const LIMIT_MS = 300_000;
const LINE = "a line of the container";

async function user(namespace: string): Promise<User> {
  const found = await User.on(log.fleet, namespace);
  servesLines(log.kubelet, found.at.mapped, LINE);
  return found;
}

const isMissing = ({ missing }: Tool): boolean => missing !== undefined;

describe.skipIf(isMissing(dagster))("dagster-k8s' execute_k8s_job with its defaults", { timeout: LIMIT_MS }, () => {
  const program = join(import.meta.dirname, "dagster/run_job.py");
  it.each([
    ["waits for the Job and prints what its pod printed", {}, true],
    [
      "sees it fail",
      { job_spec_config: { backoff_limit: 0 }, pod_template_spec_metadata: { annotations: exitsWith(1) } },
      false,
    ],
  ])("%s", async (_, options, success) => {
    const at = await user(`dagster-${success}`);
    const { stdout, stderr } = await at.run(dagster, [program, at.at.name], JSON.stringify(options));
    expect(stdout, stderr).toContain(`{"success": ${success}}`);
    // A failure comes with the last lines of its pod, in the report of the step.
    expect(success ? stdout : stderr).toContain(LINE);
  });
});

describe.skipIf(isMissing(prefect))("Prefect's KubernetesJob block", { timeout: LIMIT_MS }, () => {
  const program = join(import.meta.dirname, "prefect/run_job.py");
  it("waits for the Job and hands back what its pods printed", async () => {
    const at = await user("prefect-good");
    const manifest = jobManifest("flow", { spec: { parallelism: 2, completions: 2 } });
    const { stdout, stderr } = await at.run(prefect, [program, at.at.name], JSON.stringify(manifest));
    expect(stdout, stderr).toMatch(/^\{"logs": /m);
    const { logs } = JSON.parse(stdout.split("\n").find((line) => line.startsWith("{")) ?? "{}");
    expect(Object.values(logs)).toEqual([expect.stringContaining(LINE), expect.stringContaining(LINE)]);
  });

  it("sees it fail", async () => {
    const at = await user("prefect-bad");
    const manifest = jobManifest("flow", { spec: { backoffLimit: 0 }, pod: exitsWith(1) });
    const { stdout } = await at.run(prefect, [program, at.at.name], JSON.stringify(manifest));
    expect(stdout).toMatch(/"error": .*BackoffLimitExceeded/);
  });
});

describe.skipIf(isMissing(airflow))("Airflow's KubernetesJobOperator", { timeout: LIMIT_MS }, () => {
  it("finds its pods during a flood of other Jobs with the number of tries that docs/pods.md names", async () => {
    const at = await user("airflow-flood");
    const flood = Array.from({ length: 200 }, (_, number) => at.at.submit(`other-${number}`));
    const tasks = Array.from({ length: 5 }, () => waitsOnBusyHub);
    const outcomes = await runTasks(at, airflow, "flood", tasks);
    await Promise.all(flood);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(tasks.map(() => "success"));
  });
});
