import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { goesBefore } from "../line/job-heap.ts";
import type { WaitingClass, WaitingLine } from "../line/waiting-line.ts";

/** Of one queue in one look: the first ones, and as many of those behind them, in turn. */
const MAX_LOOKED_AT = 3;
/** Those behind the first ones are not looked at again for this long. */
const PASSED_OVER_MS = 60_000;

/** The Jobs of a queue that are looked at to see whether room can be made for them. Those that can never be helped must not hide the others. */
export class Front {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #line: Pick<WaitingLine, "heads">;
  /** When a class behind the first ones was looked at. */
  readonly #lookedAt = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">, line: Pick<WaitingLine, "heads">) {
    this.#clock = clock;
    this.#line = line;
  }

  of(queue: string): WaitingClass[] {
    const now = this.#clock.monotonic();
    for (const [key, at] of this.#lookedAt) if (now - at >= PASSED_OVER_MS) this.#lookedAt.delete(key);
    const [first, behind]: [WaitingClass[], WaitingClass[]] = [[], []];
    for (const group of this.#line.heads(queue)) {
      const other = put(first, group);
      if (other !== undefined && !this.#lookedAt.has(other.key)) put(behind, other);
    }
    for (const { key } of behind) this.#lookedAt.set(key, now);
    return [...first, ...behind];
  }
}

/** In the order in which they go; returns the one for which there is no place. */
function put(best: WaitingClass[], group: WaitingClass): WaitingClass | undefined {
  const at = best.findIndex((other) => goesBefore(group.first, other.first));
  best.splice(at < 0 ? best.length : at, 0, group);
  return best.length > MAX_LOOKED_AT ? best.pop() : undefined;
}
