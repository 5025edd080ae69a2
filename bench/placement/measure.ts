import { setImmediate as nextTurn } from "node:timers/promises";
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
  /** The longest that one turn of the event loop took, whatever it did; without the first Jobs, for which the code is still cold. */
  readonly longestTurnMs: number;
  readonly rssMiB: number;
  readonly placed: number;
}

const WARM_UP = 50;

/** Each call is one turn of the event loop, as it is in the manager. */
class Turns {
  longest = 0;

  async take(work: () => void): Promise<number> {
    const began = performance.now();
    work();
    const ms = performance.now() - began;
    this.longest = Math.max(this.longest, ms);
    await nextTurn();
    return ms;
  }
}

export async function measure(size: Size, rounds: number): Promise<Figures> {
  const bench = new PlacementBench(size);
  const turns = new Turns();
  const arrivals: number[] = [];
  for (const uid of [...bench.jobs.keys()]) {
    arrivals.push(await turns.take(() => bench.consider(uid)));
    if (arrivals.length === WARM_UP) turns.longest = 0;
  }
  await turns.take(() => bench.answer());
  const change = async (name: string, freeCpus: number): Promise<Change> => {
    const ms: number[] = [];
    let cpuMs = 0;
    for (let i = 0; i < rounds; i++) {
      const cluster = bench.names[(i * 7) % bench.names.length];
      if (cluster === undefined) break;
      const before = process.threadCpuUsage();
      ms.push(
        await turns.take(() => {
          bench.report(cluster, freeCpus);
          bench.placement.clusterChanged(cluster);
        }),
      );
      const { user, system } = process.threadCpuUsage(before);
      cpuMs += (user + system) / 1000;
      // What was decided is stored, and the cluster is full again.
      await turns.take(() => bench.answer());
      await turns.take(() => bench.report(cluster, 0));
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
  bench.placement.stop();
  return { size, arrivals, changes, longestTurnMs: turns.longest, rssMiB, placed: bench.placed };
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
