import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { LIVES } from "./lives.ts";
import { type Plan, planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import type { Blow } from "./striker.ts";
import type { Violation } from "./violations.ts";

/** A life in which processes are struck. */
export interface Struck {
  readonly life: string;
  readonly strikes: readonly Blow[];
}

/** A seed, or a life. */
export type Task = number | Struck;

/** What is left of a run when it is over. */
export interface Verdict<T extends Task = number> {
  readonly task: T;
  readonly hash: string;
  readonly violations: readonly Violation[];
  readonly kinds: readonly string[];
  readonly virtualMs: number;
  readonly tasks: number;
  readonly landed: number;
  readonly inOrderAfterMs: readonly number[];
}

async function judge(task: Task): Promise<Verdict<Task>> {
  const plan: Plan | undefined = typeof task === "number" ? planOf(task) : LIVES[task.life];
  if (plan === undefined) throw new Error(`no such life: ${JSON.stringify(task)}`);
  const strikes = typeof task === "number" ? [] : task.strikes;
  const { trace: _, writes: __, ...rest } = await runPlan(plan, undefined, strikes);
  return { ...rest, task, kinds: plan.kinds };
}

/** Runs them on all cores, each in a thread with nothing else in it, until there are no more. */
export async function judgeAll<T extends Task>(
  tasks: Iterator<T, unknown>,
  onVerdict: (verdict: Verdict<T>) => void,
  threads = availableParallelism(),
): Promise<void> {
  await Promise.all(
    Array.from({ length: threads }, async () => {
      // Most of what a seed makes is rubbish soon: less of it is looked at when it gathers for longer.
      const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 96 } });
      let waiting = Promise.withResolvers<Verdict<T>>();
      worker.on("message", (verdict: Verdict<T>) => waiting.resolve(verdict));
      worker.on("error", (error) => waiting.reject(error));
      try {
        for (let next = tasks.next(); next.done !== true; next = tasks.next()) {
          waiting = Promise.withResolvers();
          worker.postMessage(next.value);
          onVerdict(await waiting.promise);
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
}

if (!isMainThread)
  parentPort?.on("message", (task: Task) => {
    void judge(task).then((verdict) => parentPort?.postMessage(verdict));
  });
