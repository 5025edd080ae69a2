/**
 * Airflow's KubernetesJobOperator, whole and unchanged, on a hub that shows pods. It looks for its pods as often as on a busy hub,
 * since this machine may be busy; how many tasks find them by default is measured by bench/airflow.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type StandInLogFleet, startLogFleet } from "../pods/log-fleet.ts";
import { runTasks, servesLines, waitsOnBusyHub } from "./airflow.ts";
import { findTool } from "./tools.ts";
import { exitsWith, runsFor, User } from "./user.ts";

const airflow = await findTool("Airflow");

let log: StandInLogFleet | undefined;
beforeAll(async () => {
  if (airflow.missing === undefined) log = await startLogFleet();
}, 300_000);
afterAll(() => log?.stop());

it.skipIf(airflow.missing !== undefined)(
  "the operator waits for its Job, finds its pods, prints their output, and fails with it",
  async () => {
    const { fleet, kubelet } = log as StandInLogFleet;
    const user = await User.on(fleet, "airflow");
    servesLines(kubelet, user.at.mapped, "a line of the container");
    const tasks = [
      waitsOnBusyHub,
      { ...waitsOnBusyHub, parallelism: 3, completions: 3, annotations: runsFor("500ms") },
      { ...waitsOnBusyHub, backoff_limit: 0, annotations: exitsWith(3) },
    ];
    const [one, many, failed] = await runTasks(user, airflow, "run", tasks);
    expect(one).toMatchObject({ outcome: "success", pods: 1 });
    expect(one?.said.join("\n")).toContain("a line of the container");
    expect(many).toMatchObject({ outcome: "success", pods: 3 });
    expect(many?.said.join("\n").match(/a line of the container/g)).toHaveLength(3);
    expect(failed?.outcome).toMatch(/AirflowException: .*BackoffLimitExceeded/s);
  },
);
