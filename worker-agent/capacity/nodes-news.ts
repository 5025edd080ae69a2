import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { isPiece } from "./bounded-shapes.ts";

/** Small changes add up, and a message may be lost. */
const REPEAT_MS = 60_000;

/**
 * Whether the nodes are worth a mention in this heartbeat. Other nodes, or another number of free GPUs, always are; room
 * counts by quarters of a power of two, so that a nearly full node is watched closely and an empty one is not.
 */
export class NodesNews {
  #last: { report: NodesReport; digest: string; at: number } | undefined;

  isDue(report: NodesReport, now: number): boolean {
    if (this.#last === undefined || now - this.#last.at >= REPEAT_MS) return true;
    return report !== this.#last.report && digestOf(report) !== this.#last.digest;
  }

  sent(report: NodesReport, now: number): void {
    this.#last = { report, digest: digestOf(report), at: now };
  }
}

function digestOf({ shapes, hiddenLabels, leftOut }: NodesReport): string {
  const coarse = shapes.map(({ free, ...shape }) => {
    const counts = new Map<string, number>();
    for (const { nodes, room } of free) {
      const key = room.map((units, i) => (isPiece(shape.resources[i] ?? "") ? units : quarters(units))).join();
      counts.set(key, (counts.get(key) ?? 0) + nodes);
    }
    return [shape, [...counts].sort()];
  });
  return JSON.stringify([coarse, hiddenLabels, leftOut]);
}

const quarters = (units: number): number => (units <= 0 ? -1 : Math.round(4 * Math.log2(units)));
