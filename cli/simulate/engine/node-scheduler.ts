/**
 * The scheduler of a simulated worker: binds pods to nodes one by one, by what each node really has. It is the judge of what
 * placement decided, so it shares no code with it: not the rules of fitting, not the sums, not the selectors.
 */
import type { NodeKind, Scoring } from "../fleet/fleet.ts";
import type { JobShape } from "../trace/trace-job.ts";

export interface SimulatedNode {
  readonly name: string;
  readonly kind: NodeKind;
  readonly free: Map<string, number>;
}

export class NodeScheduler {
  readonly nodes: readonly SimulatedNode[];
  readonly #byKind: readonly { readonly kind: NodeKind; readonly nodes: readonly SimulatedNode[] }[];
  readonly #scoring: Scoring;
  readonly #kindsOf = new Map<JobShape, readonly SimulatedNode[][]>();

  constructor(cluster: string, kinds: readonly NodeKind[], scoring: Scoring) {
    this.#scoring = scoring;
    this.#byKind = kinds.map((kind, k) => ({
      kind,
      nodes: Array.from({ length: kind.count }, (_, i) => ({
        name: `${cluster}-${k}-${i}`,
        kind,
        free: new Map(kind.allocatable),
      })),
    }));
    this.nodes = this.#byKind.flatMap(({ nodes }) => nodes);
  }

  /** Binds one pod. Undefined: no node has room for it now. */
  bind(shape: JobShape): SimulatedNode | undefined {
    let best: SimulatedNode | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    const [cpu, memory] = [shape.perPod.get("cpu") ?? 0, shape.perPod.get("memory") ?? 0];
    for (const nodes of this.#kinds(shape))
      for (const node of nodes) {
        if (!hasRoom(node, shape)) continue;
        const score = scoreOf(node, cpu, memory, this.#scoring);
        if (score > bestScore) [best, bestScore] = [node, score];
      }
    if (best !== undefined) take(best, shape, 1);
    return best;
  }

  /** Whether a pod of this shape may be on this node, and has room there now. */
  fitsOn(node: SimulatedNode, shape: JobShape): boolean {
    return hasRoom(node, shape) && isAllowed(node.kind, shape);
  }

  bindTo(node: SimulatedNode, shape: JobShape): void {
    take(node, shape, 1);
  }

  release(node: SimulatedNode, shape: JobShape): void {
    take(node, shape, -1);
  }

  /** Whether some node would hold a pod of this shape if it were empty. */
  couldEver({ perPod, ...shape }: JobShape): boolean {
    const isEnough = ({ allocatable }: NodeKind): boolean =>
      [["pods", 1] as const, ...perPod].every(([resource, amount]) => amount <= (allocatable.get(resource) ?? 0));
    return this.#byKind.some(({ kind }) => isAllowed(kind, { perPod, ...shape }) && isEnough(kind));
  }

  #kinds(shape: JobShape): readonly SimulatedNode[][] {
    const known = this.#kindsOf.get(shape);
    if (known !== undefined) return known;
    const found = this.#byKind.filter(({ kind }) => isAllowed(kind, shape)).map(({ nodes }) => [...nodes]);
    this.#kindsOf.set(shape, found);
    return found;
  }
}

function isAllowed({ labels, taints }: NodeKind, { nodeLabels, tolerations }: JobShape): boolean {
  for (const { key, values } of nodeLabels) {
    const own = labels[key];
    if (own === undefined || !values.includes(own)) return false;
  }
  return taints.every(
    ({ key, value = "", effect }) =>
      effect === "PreferNoSchedule" ||
      tolerations.some((one) => one.key === key && (one.value === undefined || one.value === value)),
  );
}

function hasRoom({ free }: SimulatedNode, { perPod }: JobShape): boolean {
  if ((free.get("pods") ?? 0) < 1) return false;
  for (const [resource, amount] of perPod) if (amount > 0 && (free.get(resource) ?? 0) < amount) return false;
  return true;
}

function take({ free }: SimulatedNode, { perPod }: JobShape, sign: 1 | -1): void {
  free.set("pods", (free.get("pods") ?? 0) - sign);
  for (const [resource, amount] of perPod) free.set(resource, (free.get(resource) ?? 0) - sign * amount);
}

/** The parts of CPU and memory that would be left, and how even they are: kube-scheduler's two scores for resources. */
function scoreOf(
  { free, kind: { allocatable } }: SimulatedNode,
  cpu: number,
  memory: number,
  scoring: Scoring,
): number {
  const part = (resource: string, asked: number): number => {
    const whole = allocatable.get(resource) ?? 0;
    return whole > 0 ? ((free.get(resource) ?? 0) - asked) / whole : 0;
  };
  const [cpuLeft, memoryLeft] = [part("cpu", cpu), part("memory", memory)];
  const left = (cpuLeft + memoryLeft) / 2;
  return (scoring === "LeastAllocated" ? left : 1 - left) + 1 - Math.abs(cpuLeft - memoryLeft) / 2;
}
