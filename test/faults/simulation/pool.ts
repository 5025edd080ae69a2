import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import type { Violation } from "./violations.ts";

/** What is left of a run when it is over. */
export interface Verdict {
  readonly seed: number;
  readonly hash: string;
  readonly violations: readonly Violation[];
  readonly kinds: readonly string[];
  readonly virtualMs: number;
  readonly tasks: number;
}

async function judge(seed: number): Promise<Verdict> {
  const plan = planOf(seed);
  const { hash, violations, virtualMs, tasks } = await runPlan(plan);
  return { seed, hash, violations, kinds: plan.kinds, virtualMs, tasks };
}

/** Runs seeds on all cores, each in a thread with nothing else in it, until there are no more. */
export async function judgeAll(
  seeds: Iterator<number, unknown>,
  onVerdict: (verdict: Verdict) => void,
  threads = availableParallelism(),
): Promise<void> {
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL(import.meta.url));
      let waiting = Promise.withResolvers<Verdict>();
      worker.on("message", (verdict: Verdict) => waiting.resolve(verdict));
      worker.on("error", (error) => waiting.reject(error));
      try {
        for (let next = seeds.next(); next.done !== true; next = seeds.next()) {
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
  parentPort?.on("message", (seed: number) => {
    void judge(seed).then((verdict) => parentPort?.postMessage(verdict));
  });
