import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, realClock } from "@jobferry/shared/runtime/clock.ts";
import { PlacementBench, type Size } from "./fleet.ts";

export interface Change {
  readonly name: string;
  /** CPU time of this thread, of all of them: it is counted in steps of some milliseconds. */
  readonly cpuMs: number;
  /** How long each took. */
  readonly ms: readonly number[];
}

export interface Figures {
  readonly size: Size;
  /** All Jobs come, one by one: ms each. */
  readonly arrivals: readonly number[];
  readonly changes: readonly Change[];
  /** The longest turn of the event loop, whatever it did; without the first Jobs, for which the code is still cold. */
  readonly longestTurn: Turn;
  readonly rssMiB: number;
  readonly placed: number;
}

export interface Turn {
  readonly ms: number;
  /** CPU time of this thread in it: what is missing to `ms` the machine gave to somebody else. */
  readonly cpuMs: number;
  /** What garbage collection took of it. */
  readonly gcMs: number;
  readonly what: string;
}

const WARM_UP = 50;
/** Shorter turns are not looked at more closely. */
const LONG_MS = 5;

/** Each call is one turn of the event loop, as it is in the manager; timers of placement take turns of their own. */
class Turns {
  longest: Turn = NO_TURN;
  #pauses: { at: number; ms: number }[] = [];
  /** Long ones of which it is not known yet what garbage collection took. */
  #long: (Omit<Turn, "gcMs"> & { began: number })[] = [];
  readonly #observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) this.#pauses.push({ at: startTime, ms: duration });
  });

  constructor() {
    this.#observer.observe({ entryTypes: ["gc"] });
  }

  readonly clock: Clock = {
    ...realClock,
    after: (ms, work) => realClock.after(ms, () => this.#timed("a timer", work)),
  };

  async take(what: string, work: () => void): Promise<number> {
    const ms = this.#timed(what, work);
    // Twice: the collector's entries come with the turn after.
    await nextTurn();
    if (this.#long.length > 0) await nextTurn();
    for (const { began, ...turn } of this.#long) {
      const within = this.#pauses.filter(({ at }) => at >= began && at <= began + turn.ms);
      // By CPU time, as far as it is counted: on a busy machine any turn may be the longest one.
      if (Math.min(turn.ms, turn.cpuMs) > Math.min(this.longest.ms, this.longest.cpuMs))
        this.longest = { ...turn, gcMs: within.reduce((sum, each) => sum + each.ms, 0) };
    }
    this.#long = [];
    this.#pauses = [];
    return ms;
  }

  stop(): void {
    this.#observer.disconnect();
  }

  #timed(what: string, work: () => void): number {
    const before = process.threadCpuUsage();
    const began = performance.now();
    work();
    const ms = performance.now() - began;
    const { user, system } = process.threadCpuUsage(before);
    if (ms >= LONG_MS) this.#long.push({ ms, cpuMs: (user + system) / 1000, what, began });
    return ms;
  }
}

const NO_TURN: Turn = { ms: 0, cpuMs: 0, gcMs: 0, what: "" };

export async function measure(size: Size, rounds: number): Promise<Figures> {
  const turns = new Turns();
  const bench = new PlacementBench(size, turns.clock);
  const arrivals: number[] = [];
  for (const uid of [...bench.jobs.keys()]) {
    arrivals.push(await turns.take("a Job comes", () => bench.consider(uid)));
    if (arrivals.length === WARM_UP) turns.longest = NO_TURN;
  }
  await turns.take("all are answered", () => bench.answer());
  const change = async (name: string, freeCpus: number): Promise<Change> => {
    const ms: number[] = [];
    let cpuMs = 0;
    for (let i = 0; i < rounds; i++) {
      const cluster = bench.names[(i * 7) % bench.names.length];
      if (cluster === undefined) break;
      const before = process.threadCpuUsage();
      ms.push(
        await turns.take(name, () => {
          bench.report(cluster, freeCpus);
          bench.placement.clusterChanged(cluster);
        }),
      );
      const { user, system } = process.threadCpuUsage(before);
      cpuMs += (user + system) / 1000;
      // What was decided is stored, and the cluster is full again.
      await turns.take(`answers after: ${name}`, () => bench.answer());
      await turns.take("a report", () => bench.report(cluster, 0));
    }
    return { name, cpuMs, ms };
  };
  await change("warm-up", 4);
  const changes = [
    await change("nothing fits", 0),
    await change("a node has 4 CPUs and 16 GiB free", 4),
    await change("a node has 16 CPUs and 64 GiB free", 16),
  ];
  const rssMiB = process.memoryUsage().rss / 2 ** 20;
  bench.stop();
  turns.stop();
  return { size, arrivals, changes, longestTurn: turns.longest, rssMiB, placed: bench.placed };
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
