import type { VirtualRun } from "@jobferry/sandbox/nodes/virtual-runtime.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";

/** What a plan writes on a pod template to say how its pods run. */
export const LIFE = {
  runMs: "simulation/run-ms",
  stopMs: "simulation/stop-ms",
  /** This many pods of the Job fail, whichever come first; `all`: every one. */
  fails: "simulation/fails",
  job: "simulation/job",
} as const;

/** How pods run, by what their template says. */
export class PodLives {
  readonly #failed = new Map<string, Set<string>>();

  of(pod: Pod): VirtualRun {
    const { annotations = {}, uid = "" } = pod.metadata;
    return {
      runMs: Number(annotations[LIFE.runMs] ?? 2_000),
      stopMs: Number(annotations[LIFE.stopMs] ?? 500),
      exitCode: this.#fails(annotations, uid) ? 1 : 0,
    };
  }

  #fails(annotations: Readonly<Record<string, string>>, uid: string): boolean {
    const wanted = annotations[LIFE.fails] ?? "0";
    if (wanted === "all") return true;
    const job = annotations[LIFE.job] ?? "";
    const failed = this.#failed.get(job) ?? new Set();
    if (failed.size < Number(wanted)) this.#failed.set(job, failed.add(uid));
    return failed.has(uid);
  }
}
