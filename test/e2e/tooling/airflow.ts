import { join } from "node:path";
import type { StandInKubelet } from "../pods/stand-in-kubelet.ts";
import type { Tool } from "./tools.ts";
import type { User } from "./user.ts";

const program = join(import.meta.dirname, "airflow/run_tasks.py");

/** What became of one task. */
export interface TaskOutcome {
  /** `success`, or the exception. */
  readonly outcome: string;
  readonly pods: number;
  readonly seconds: number;
  /** What the operator logged: the lines of the container among it. */
  readonly said: readonly string[];
}

/** Options of KubernetesJobOperator, as its users give them. */
export type Task = Readonly<Record<string, unknown>>;

export const waits = { image: "none", wait_until_job_complete: true, get_logs: true };

/** Runs tasks of KubernetesJobOperator one at a time. */
export async function runTasks(user: User, airflow: Tool, run: string, tasks: readonly Task[]): Promise<TaskOutcome[]> {
  const output = await user.ok(airflow, [program, user.at.name, run], JSON.stringify(tasks));
  const outcomes: TaskOutcome[] = [];
  let said: string[] = [];
  for (const line of output.split("\n")) {
    if (!line.startsWith('{"outcome"')) said.push(line);
    else {
      outcomes.push({ ...JSON.parse(line), said });
      said = [];
    }
  }
  return outcomes;
}

/** Every container of this namespace has written one line, and ends. */
export function servesLines(kubelet: StandInKubelet, namespace: string, line: string): void {
  kubelet.serve(namespace, ({ query }, response) => {
    const time = query.get("timestamps") === "true" ? "2026-01-01T00:00:00.000000000Z " : "";
    response.end(`${time}${line}\n`);
  });
}
