import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { StandInKubelet } from "../pods/stand-in-kubelet.ts";
import type { Tool } from "./tools.ts";
import type { ToolProcess, User } from "./user.ts";

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

/** How often docs/pods.md has it look for its pods on a busy hub. By default it looks four times, within some 20 ms. */
export const RETRIES = 5_000;
export const waitsOnBusyHub = { ...waits, discover_pods_retry_number: RETRIES };

/** A Python in which tasks of KubernetesJobOperator run one at a time. */
export class Airflow {
  readonly #process: ToolProcess;
  readonly #lines: AsyncIterator<string>;
  #errors = "";

  private constructor(process: ToolProcess, lines: Interface) {
    this.#process = process;
    this.#lines = lines[Symbol.asyncIterator]();
    process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-4_000);
    });
  }

  /** Ready for tasks: its imports take seconds. The names of its Jobs start with `run`. */
  static async start(user: User, tool: Tool, run: string): Promise<Airflow> {
    const process = user.start(tool, [program, user.at.name, run]);
    const airflow = new Airflow(process, createInterface({ input: process.stdout }));
    await airflow.#outcome();
    return airflow;
  }

  run(task: Task): Promise<TaskOutcome> {
    this.#process.stdin.write(`${JSON.stringify(task)}\n`);
    return this.#outcome();
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.stdin.end();
    await ended;
  }

  async #outcome(): Promise<TaskOutcome> {
    const said: string[] = [];
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`Airflow ended:\n${said.join("\n")}\n${this.#errors}`);
      if (value.startsWith('{"outcome"')) return { ...JSON.parse(value), said };
      said.push(value);
    }
  }
}

export async function runTasks(user: User, tool: Tool, run: string, tasks: readonly Task[]): Promise<TaskOutcome[]> {
  const airflow = await Airflow.start(user, tool, run);
  const outcomes: TaskOutcome[] = [];
  try {
    for (const task of tasks) outcomes.push(await airflow.run(task));
  } finally {
    await airflow.stop();
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
