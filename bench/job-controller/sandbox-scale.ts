/**
 * What one more pod of a Job costs when the Job is large: API server, scheduler, kubelet and our controller in one process on
 * a virtual clock, so that the time measured is work alone. Run by itself, this file measures one size and sends the figures
 * to its parent: each size begins with a fresh heap.
 */
import { fork } from "node:child_process";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { runJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { median, type SandboxFigures } from "./figures.ts";
import { benchJob, type JobSize } from "./work.ts";

export interface SandboxSize extends JobSize {
  /** Pods that run at least, half of them first and unmeasured: they run on code that is not compiled yet. */
  readonly least: number;
}

/** MiB. With no limit V8 lets garbage pile up as far as the machine has memory; a container of 1 GiB sets about this. */
export const HEAP_LIMIT = 800;
const VIRTUAL_DAY_MS = 86_400_000;

async function measure(size: SandboxSize): Promise<SandboxFigures> {
  const clock = new VirtualClock();
  const nodes = [{ cpu: "100000", memory: "1000Ti", pods: 1_000_000 }];
  const cluster = new SandboxCluster({ clock, seed: 1, kubelet: "virtual", nodes });
  await cluster.start();
  const controller = runJobController({ api: cluster.apiFor("controller"), clock, claim: "unmanaged" });
  await controller.started;
  const finished = new Set<string>();
  const stop = new AbortController();
  const observer = new Reflector<Job>({ api: cluster.api, resource: jobs, clock });
  observer.addHandler({
    updated: (_, job) => {
      if (isFinished(job) && job.status?.succeeded === job.spec.completions) finished.add(job.metadata.name ?? "");
    },
  });
  const observing = observer.start(stop.signal);
  const run = async (name: string, jobSize: JobSize) => {
    const cpu = process.cpuUsage();
    const began = performance.now();
    await cluster.api.create(jobs, "default", benchJob(name, jobSize));
    await clock.runUntil(() => finished.has(name), VIRTUAL_DAY_MS);
    const { user, system } = process.cpuUsage(cpu);
    return { wall: ((performance.now() - began) * 1000) / jobSize.pods, cpu: (user + system) / jobSize.pods };
  };
  const warmUp = { ...size, pods: Math.min(size.pods, 1_000) };
  for (let pods = 0; pods < size.least / 2; pods += warmUp.pods) await run(`warm-up-${pods}`, warmUp);
  const runs: Awaited<ReturnType<typeof run>>[] = [];
  for (let pods = 0; pods < size.least; pods += size.pods) runs.push(await run(`measured-${pods}`, size));
  stop.abort();
  controller.abandon();
  await observing;
  return {
    microsPerPod: median(runs.map(({ wall }) => wall)),
    cpuMicrosPerPod: median(runs.map(({ cpu }) => cpu)),
    peakMiB: process.resourceUsage().maxRSS / 1024,
  };
}

export function measureInSandbox(size: SandboxSize): Promise<SandboxFigures> {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [JSON.stringify(size)], {
      execArgv: [`--max-old-space-size=${HEAP_LIMIT}`],
    });
    child.once("message", (figures) => resolve(figures as SandboxFigures));
    child.once("exit", (code) => {
      if (code !== 0) reject(new Error(`a Job of ${size.pods} pods failed in the sandbox: exit code ${String(code)}`));
    });
  });
}

if (import.meta.main) {
  const figures = await measure(JSON.parse(process.argv[2] ?? "") as SandboxSize);
  process.send?.(figures, () => process.exit(0));
}
