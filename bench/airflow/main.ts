/**
 * How many tasks of Airflow's KubernetesJobOperator find their pods on the hub. `npm run bench:airflow` takes about six minutes and
 * writes docs/bench/airflow.md.
 */
import { readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type StandInLogFleet, startLogFleet } from "@jobferry/test/e2e/pods/log-fleet.ts";
import {
  Airflow,
  servesLines,
  type Task,
  type TaskOutcome,
  waits,
  waitsOnBusyHub,
} from "@jobferry/test/e2e/tooling/airflow.ts";
import { findTool, type Tool } from "@jobferry/test/e2e/tooling/tools.ts";
import { User } from "@jobferry/test/e2e/tooling/user.ts";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { Submitter } from "../dispatch/work.ts";
import { type Burst, type Figures, page } from "./page.ts";

const HELP = `npm run bench:airflow -- [--quick] [--page FILE]

Runs tasks of Airflow's KubernetesJobOperator on a hub that shows pods and writes docs/bench/airflow.md; about six minutes on a
quiet machine.
  --quick      few tasks, to see that everything runs; the figures mean nothing
  --page FILE  writes there instead`;

const full = { warmUp: 10, idle: 100, burst: 500, rounds: 2 };
const quick: typeof full = { warmUp: 2, idle: 3, burst: 40, rounds: 1 };
const CREATORS = 16;

const defaults: Task = waits;
const patient: Task = waitsOnBusyHub;

const began = new Date();
const say = (line: string): void => console.error(`${((Date.now() - began.getTime()) / 1000).toFixed(0)} s: ${line}`);

/** Tasks one after the other for as long as a burst of other Jobs is under way. */
async function duringBurst(log: StandInLogFleet, airflow: Airflow, jobs: number, task: Task): Promise<Burst> {
  const others = new Submitter(log.fleet.hub.api, "dispatched");
  try {
    let underWay = true;
    const burst = others.burst(jobs, CREATORS).finally(() => {
      underWay = false;
    });
    const outcomes: TaskOutcome[] = [];
    while (underWay) outcomes.push(await airflow.run(task));
    return { patient: task === patient, jobs, seconds: await burst, outcomes };
  } finally {
    await others.close();
  }
}

async function tasks(airflow: Airflow, count: number): Promise<TaskOutcome[]> {
  const outcomes: TaskOutcome[] = [];
  for (let task = 0; task < count; task++) outcomes.push(await airflow.run(defaults));
  return outcomes;
}

async function measure(log: StandInLogFleet, tool: Tool, sizes: typeof full): Promise<Figures> {
  const load = loadavg()[0] ?? 0;
  const user = await User.on(log.fleet, "airflow");
  servesLines(log.kubelet, user.at.mapped, "a line");
  const airflow = await Airflow.start(user, tool, "run");
  try {
    await tasks(airflow, sizes.warmUp);
    const idle = await tasks(airflow, sizes.idle);
    say(`idle: ${idle.filter(({ outcome }) => outcome === "success").length} of ${idle.length} succeed`);
    const bursts: Burst[] = [];
    for (let turn = 0; turn < 2 * sizes.rounds; turn++) {
      // Whoever goes second meets servers that the first has filled.
      const task = (turn % 2 === 0) === turn % 4 < 2 ? defaults : patient;
      const burst = await duringBurst(log, airflow, sizes.burst, task);
      bursts.push(burst);
      const succeeded = burst.outcomes.filter(({ outcome }) => outcome === "success").length;
      say(`burst, ${burst.patient ? "patient" : "defaults"}: ${succeeded} of ${burst.outcomes.length} succeed`);
    }
    const { json } = await log.fleet.hub.request("/version");
    const tookSeconds = (Date.now() - began.getTime()) / 1000;
    return { began, tookSeconds, load, kubernetes: (json as { gitVersion: string }).gitVersion, idle, bursts };
  } finally {
    await airflow.stop();
  }
}

async function main(sizes: typeof full, file: string): Promise<void> {
  const tool = await findTool("Airflow");
  if (tool.missing !== undefined) throw new Error(tool.missing);
  const log = await startLogFleet({
    ...{ withoutControllers: true, logLevel: "info", agentFlags: ["--retention-seconds", "600"] },
  });
  try {
    const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
    const text = wrapProse(page(await measure(log, tool, sizes), findings));
    await writeFile(file, text);
    console.log(text);
  } finally {
    await log.stop();
  }
}

const { values: flags } = parseArgs({
  options: { help: { type: "boolean" }, quick: { type: "boolean" }, page: { type: "string" } },
});
if (flags.help === true) console.log(HELP);
else
  await main(
    flags.quick === true ? quick : full,
    flags.page ?? join(import.meta.dirname, "../../docs/bench/airflow.md"),
  );
