import type { Amounts } from "@jobferry/shared/job/requests.ts";

/** What the Jobs of a trace may have in common: many of them share one. */
export interface JobShape {
  readonly namespace: string;
  readonly queue: string;
  readonly priority: number;
  /** All of them run at a time. */
  readonly pods: number;
  readonly gang: boolean;
  /** Requests of one pod: thousandths of a CPU, bytes, pieces. */
  readonly perPod: Amounts;
  /** Its nodes must have each of these labels, with one of the values. */
  readonly nodeLabels: readonly NodeLabel[];
  readonly tolerations: readonly Tolerated[];
  /** As in the annotation of a Job; empty: any cluster. */
  readonly clusterSelector: string;
}

interface NodeLabel {
  readonly key: string;
  readonly values: readonly string[];
}

/** Without a value: whatever the taint's is. */
interface Tolerated {
  readonly key: string;
  readonly value?: string | undefined;
}

export interface TraceJob {
  readonly name: string;
  /** From the beginning of the trace. */
  readonly arrivalMs: number;
  /** How long each of its pods runs. */
  readonly runMs: number;
  readonly shape: JobShape;
}

/** Gives equal shapes as one object: a trace of a hundred thousand Jobs has some hundreds. */
export class ShapePool {
  readonly #shapes = new Map<string, JobShape>();

  of(shape: JobShape): JobShape {
    const key = JSON.stringify([{ ...shape, perPod: [...shape.perPod] }]);
    const known = this.#shapes.get(key);
    if (known !== undefined) return known;
    this.#shapes.set(key, shape);
    return shape;
  }
}
