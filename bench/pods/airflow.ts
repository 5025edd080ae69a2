/** How many tasks of Airflow's KubernetesJobOperator find their pods. */
import type { StandInLogFleet } from "@jobferry/test/e2e/pods/log-fleet.ts";
import { runTasks, servesLines, type Task, waits } from "@jobferry/test/e2e/tooling/airflow.ts";
import { findTool } from "@jobferry/test/e2e/tooling/tools.ts";
import { User } from "@jobferry/test/e2e/tooling/user.ts";
import type { Airflow } from "./figures.ts";
import { flood } from "./jobs.ts";

export interface AirflowSizes {
  readonly idle: number;
  readonly burst: number;
  readonly tasks: number;
}

const defaults: Task = { ...waits, parallelism: 1 };
const patient: Task = { ...defaults, discover_pods_retry_number: 5_000 };

export async function airflow({ fleet, kubelet }: StandInLogFleet, sizes: AirflowSizes): Promise<Airflow | undefined> {
  const tool = await findTool("Airflow");
  if (tool.missing !== undefined) return undefined;
  const user = await User.on(fleet, "airflow");
  servesLines(kubelet, user.at.mapped, "a line");
  const run = async (name: string, task: Task, tasks: number): Promise<number> => {
    const outcomes = await runTasks(
      user,
      tool,
      name,
      Array.from({ length: tasks }, () => task),
    );
    return outcomes.filter(({ outcome }) => outcome === "success").length;
  };
  const during = async (name: string, task: Task): Promise<number> => {
    const others = flood(user.at, sizes.burst);
    const succeeded = await run(name, task, sizes.tasks);
    await others;
    return succeeded;
  };
  const succeeded = await run("idle", defaults, sizes.idle);
  const burst = {
    tasks: sizes.tasks,
    defaults: await during("defaults", defaults),
    retries: await during("patient", patient),
  };
  return { idle: { tasks: sizes.idle, succeeded }, burst };
}
