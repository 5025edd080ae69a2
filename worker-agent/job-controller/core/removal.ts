/** Section 11: which active pods go first when there are too many. */
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { indexCount, isIndexed } from "./job-spec.ts";
import type { PodFacts } from "./types.ts";

type Comparison = (a: PodFacts, b: PodFacts) => number;

const PHASE_RANK: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const phaseRank = ({ pod }: PodFacts): number => PHASE_RANK[pod.status?.phase ?? ""] ?? 0;
const isAssigned = ({ pod }: PodFacts): number => (pod.spec.nodeName ? 1 : 0);
const time = (text: string | undefined): number => Date.parse(text ?? "") || 0;
const readySince = ({ pod }: PodFacts): number =>
  time(pod.status?.conditions?.find((condition) => condition.type === "Ready")?.lastTransitionTime);
const created = ({ pod }: PodFacts): number => time(pod.metadata.creationTimestamp);

/** Newer first, but an unknown time before all others. */
function newestFirst(a: number, b: number): number {
  if (a === b) return 0;
  if (a === 0 || b === 0) return a === 0 ? -1 : 1;
  return b - a;
}

/** RM-3.5: the highest count over app containers, then over sidecars. */
function maxRestarts(pod: Pod, which: "apps" | "sidecars"): number {
  if (which === "apps")
    return Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status) => status.restartCount));
  const sidecars = (pod.spec.initContainers ?? []).filter((container) => container.restartPolicy === "Always");
  return Math.max(
    0,
    ...(pod.status?.initContainerStatuses ?? [])
      .filter((status) => sidecars.some((container) => container.name === status.name))
      .map((status) => status.restartCount),
  );
}

/** RM-3, in order; the first that tells two pods apart decides. */
const RANKING: readonly Comparison[] = [
  (a, b) => isAssigned(a) - isAssigned(b),
  (a, b) => phaseRank(a) - phaseRank(b),
  (a, b) => Number(a.ready) - Number(b.ready),
  (a, b) => (a.ready && b.ready ? newestFirst(readySince(a), readySince(b)) : 0),
  (a, b) => maxRestarts(b.pod, "apps") - maxRestarts(a.pod, "apps"),
  (a, b) => maxRestarts(b.pod, "sidecars") - maxRestarts(a.pod, "sidecars"),
  (a, b) => newestFirst(created(a), created(b)),
];

/** Negative: `a` is removed before `b`. */
export function compareForRemoval(a: PodFacts, b: PodFacts): number {
  for (const compare of RANKING) {
    const order = compare(a, b);
    if (order !== 0) return order;
  }
  return 0;
}

/** M-4: at least `atLeast` pods; for Indexed Jobs every pod whose index is useless, however many (RM-4). */
export function podsToRemove(job: Job, active: readonly PodFacts[], atLeast: number): PodFacts[] {
  const { useless, useful } = isIndexed(job) ? splitByUse(job, active) : { useless: [], useful: active };
  const more = atLeast - useless.length;
  if (more <= 0) return useless;
  // Ranking costs a sort: not needed when all must go.
  if (more >= useful.length) return [...useless, ...useful];
  return [...useless, ...useful.toSorted(compareForRemoval).slice(0, more)];
}

/** RM-4: unknown, out-of-range and repeated indexes; of the repeated the best-progressed pod stays. */
function splitByUse(job: Job, active: readonly PodFacts[]): { useless: PodFacts[]; useful: PodFacts[] } {
  const useless: PodFacts[] = [];
  const best = new Map<number, PodFacts>();
  for (const facts of active) {
    const index = completionIndex(facts.pod);
    if (index === undefined || index >= indexCount(job)) {
      useless.push(facts);
      continue;
    }
    const rival = best.get(index);
    if (rival === undefined) best.set(index, facts);
    else if (compareForRemoval(facts, rival) >= 0) {
      useless.push(rival);
      best.set(index, facts);
    } else useless.push(facts);
  }
  return { useless, useful: [...best.values()] };
}
