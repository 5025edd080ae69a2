import type { Pod } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "@jobferry/worker-agent/job-controller/core/index-set.ts";
import * as kubelet from "./kubelet.ts";
import { Random } from "./random.ts";
import { podsInRole, RELEASED, type Role } from "./roles.ts";
import type { JobStep, PodStep } from "./script.ts";
import type { Side } from "./side.ts";

/** Plays one step on one side and says what came of it; both sides must say the same. `at` is the step's time for both. */
export async function playStep(side: Side, step: PodStep | JobStep, at: number): Promise<string> {
  switch (step.do) {
    case "edit":
      return side.editJob(step.spec);
    case "delete-job":
      await side.deleteJob(step.propagation);
      return "done";
    case "await-deadline":
      return "done";
    case "succeed-all": {
      const active = podsInRole(side.world, "active");
      await Promise.all(active.map((pod) => side.report(pod, kubelet.succeeded(pod, at))));
      return `${active.length} pods`;
    }
    case "rank":
      return rank(side, step.shuffle, at);
    case "adopt":
      return adopt(side, step, at);
    default: {
      const candidates = podsInRole(side.world, roleFor(step.do));
      const pod = candidates[step.pod % candidates.length];
      if (pod === undefined) return "no pod";
      await playPodStep(side, step, pod, at);
      return "done";
    }
  }
}

type SinglePodStep = Extract<PodStep, { pod: number }>;

function roleFor(verb: SinglePodStep["do"]): Role {
  switch (verb) {
    case "reap":
      return "terminating";
    case "delete-finished":
    case "flip":
      return "finished";
    case "reclaim":
      return "released";
    case "run":
    case "ready":
    case "unready":
    case "succeed":
    case "fail":
    case "restart":
    case "delete":
    case "evict":
    case "node-loss":
    case "release":
      return "active";
  }
}

async function playPodStep(side: Side, step: SinglePodStep, pod: Pod, at: number): Promise<void> {
  switch (step.do) {
    case "run":
      return side.report(pod, kubelet.running(pod, at));
    case "ready":
      return side.report(pod, kubelet.ready(pod, at));
    case "unready":
      return side.report(pod, kubelet.unready(pod, at));
    case "succeed":
      return side.report(pod, kubelet.succeeded(pod, at));
    case "fail":
      return side.report(pod, kubelet.failed(pod, { ...step, finishedAt: kubelet.finishTime(at, step.finish) }));
    case "restart":
      return side.report(pod, kubelet.restarted(pod, at, step.times));
    case "delete":
      await dateFailure(side, step, pod, at);
      return side.deletePod(pod);
    case "evict":
      await dateFailure(side, step, pod, at);
      return side.evictPod(pod);
    case "node-loss":
      await side.report(pod, kubelet.lost(pod, kubelet.finishTime(at, step.finish)));
      return side.deletePod(pod, { now: true });
    case "reap":
      return reap(side, step, pod, at);
    case "delete-finished":
      return side.deletePod(pod);
    case "flip":
      return side.report(pod, kubelet.flipped(pod));
    case "release":
      return side.setLabel(pod, selectorLabel(side), RELEASED, true);
    case "reclaim":
      return reclaim(side, pod);
  }
}

/** BO-10 b: a deleted pod finished when it stopped being ready. */
async function dateFailure(
  side: Side,
  step: { finish: "past" | "now" | "ahead" },
  pod: Pod,
  at: number,
): Promise<void> {
  if (step.finish === "now" || pod.spec.nodeName === undefined) return;
  await side.report(pod, kubelet.unready(pod, kubelet.finishTime(at, step.finish)));
}

async function reap(side: Side, step: Extract<PodStep, { do: "reap" }>, pod: Pod, at: number): Promise<void> {
  const finishedAt = kubelet.finishTime(at, step.finish);
  const status =
    step.phase === "Failed"
      ? kubelet.failed(pod, { container: 0, code: step.code, finishedAt })
      : kubelet.succeeded(pod, finishedAt);
  await side.report(pod, status);
  await side.deletePod(pod, { now: true });
}

const selectorLabel = (side: Side): string => Object.keys(side.world.job?.spec.selector?.matchLabels ?? {})[0] ?? "";

async function reclaim(side: Side, pod: Pod): Promise<void> {
  const label = selectorLabel(side);
  const value = side.world.job?.spec.selector?.matchLabels?.[label];
  if (value !== undefined) await side.setLabel(pod, label, value, false);
}

async function adopt(side: Side, step: Extract<PodStep, { do: "adopt" }>, at: number): Promise<string> {
  const { job } = side.world;
  if (job === undefined) return "no Job";
  // An index cannot be failed and succeeded (BI-12): every later status write would be refused (VS-17), on both sides.
  if (IndexSet.parse(job.status?.failedIndexes, job.spec.completions ?? 0).has(step.index)) return "index has failed";
  const orphan = await side.createOrphan(job, step.index, step.phase === "Pending");
  if (step.phase === "Succeeded") {
    await side.report(orphan, kubelet.succeeded(orphan, at));
    await reclaim(side, orphan);
  }
  return "done";
}

/** The first in the order stays as it is, unless ready already; all others become ready, each at a time of its own. */
async function rank(side: Side, shuffle: number, at: number): Promise<string> {
  const order = new Random(shuffle).shuffled(podsInRole(side.world, "active"));
  for (const [place, pod] of order.entries()) {
    const pending = place === 0 && (pod.status?.phase ?? "Pending") === "Pending";
    if (!pending) await side.report(pod, kubelet.ready(pod, at, at - (60 + 10 * place) * 1000));
  }
  return `${order.length} pods`;
}
