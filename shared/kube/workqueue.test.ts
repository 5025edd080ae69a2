import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import { type ProcessResult, WorkQueue, type WorkQueueOptions } from "./workqueue.ts";

/** A queue whose keys finish when the test says so. */
function manualQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  const started: string[] = [];
  /** Keys that began while they ran. Checked by the test: what is thrown inside a process is only another failure. */
  const overlaps: string[] = [];
  const running = new Map<string, { finish(result?: ProcessResult): void; fail(): void; signal: AbortSignal }>();
  const queue = new WorkQueue({
    name: "test",
    clock,
    concurrency: 2,
    backoff: { baseMs: 100, maxMs: 1000 },
    process: (key, signal) =>
      new Promise<ProcessResult>((resolve, reject) => {
        if (running.has(key)) overlaps.push(key);
        started.push(key);
        const leave = (): void => {
          running.delete(key);
        };
        running.set(key, {
          signal,
          finish: (result) => {
            leave();
            resolve(result);
          },
          fail: () => {
            leave();
            reject(new Error("did not work"));
          },
        });
      }),
    ...options,
  });
  queue.start();
  return { clock, queue, started, overlaps, running };
}

test("a key that asks for another run at once, and was added meanwhile, still runs once at a time", async () => {
  const { clock, queue, started, overlaps, running } = manualQueue();
  queue.add("a");
  await clock.settle();
  queue.add("a");
  running.get("a")?.finish({ requeueAfterMs: 0 });
  await clock.settle();
  expect(overlaps).toEqual([]);
  expect(started).toEqual(["a", "a"]);
});

test("a key added many times while it waits runs once, in the order of first adding", async () => {
  const { clock, queue, started, running } = manualQueue({ concurrency: 1 });
  for (const key of ["a", "b", "c", "b", "c", "b"]) queue.add(key);
  for (const key of ["a", "b", "c"]) {
    await clock.settle();
    running.get(key)?.finish();
  }
  await clock.settle();
  expect(started).toEqual(["a", "b", "c"]);
  expect(queue.depth).toBe(0);
});

test("a key added while it runs runs again afterwards, not beside itself", async () => {
  const { clock, queue, started, running } = manualQueue();
  queue.add("a");
  queue.add("a");
  queue.add("a");
  expect(started).toEqual(["a"]);
  expect(queue.depth).toBe(1);
  running.get("a")?.finish();
  await clock.settle();
  expect(started).toEqual(["a", "a"]);
});

test("no more keys run at once than allowed", async () => {
  const { clock, queue, started, running } = manualQueue({ concurrency: 2 });
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  expect(started).toEqual(["a", "b"]);
  running.get("a")?.finish();
  await clock.settle();
  expect(started).toEqual(["a", "b", "c"]);
});

test("failures back off exponentially up to the cap, success forgets them", async () => {
  const { clock, queue, started, running } = manualQueue();
  queue.add("a");
  for (const wait of [100, 200, 400, 800, 1000, 1000]) {
    const runs = started.length;
    running.get("a")?.fail();
    await clock.advance(wait - 1);
    expect(started).toHaveLength(runs);
    await clock.advance(1);
    expect(started).toHaveLength(runs + 1);
  }
  expect(queue.failures("a")).toBe(6);
  running.get("a")?.finish();
  await clock.settle();
  expect(queue.failures("a")).toBe(0);
});

test("a synchronous throw counts as a failure too", async () => {
  let runs = 0;
  const { clock, queue } = manualQueue({
    process: () => {
      runs++;
      throw new Error("at once");
    },
  });
  queue.add("a");
  await clock.advance(100);
  expect(runs).toBe(2);
});

test("requeueAfterMs runs the key again after that time and is not a failure", async () => {
  const { clock, queue, started, running } = manualQueue();
  queue.add("a");
  running.get("a")?.finish({ requeueAfterMs: 5000 });
  await clock.advance(4999);
  expect(started).toHaveLength(1);
  await clock.advance(1);
  expect(started).toHaveLength(2);
  expect(queue.failures("a")).toBe(0);
});

test("of several delays the earliest counts, and an add in between does not cancel it", async () => {
  const { clock, queue, started, running } = manualQueue();
  queue.addAfter("a", 500);
  queue.addAfter("a", 100);
  queue.addAfter("a", 300);
  queue.add("a");
  running.get("a")?.finish();
  await clock.advance(100);
  expect(started).toHaveLength(2);
  running.get("a")?.finish();
  await clock.advance(1000);
  expect(started).toHaveLength(2);
});

test("stop lets running keys finish and starts no others", async () => {
  const { clock, queue, started, running } = manualQueue({ concurrency: 1 });
  queue.add("a");
  queue.add("b");
  queue.addAfter("c", 10);
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  queue.add("d");
  await clock.advance(100);
  expect(stopped).toBe(false);
  expect(running.get("a")?.signal.aborted).toBe(false);
  running.get("a")?.finish();
  await stopping;
  await clock.advance(100_000);
  expect(started).toEqual(["a"]);
});

test("stop aborts keys that outlast the grace", async () => {
  const { clock, queue, running } = manualQueue({ stopGraceMs: 1000 });
  queue.add("a");
  const stopping = Promise.all([queue.stop(), queue.stop()]);
  await clock.advance(999);
  expect(running.get("a")?.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(running.get("a")?.signal.aborted).toBe(true);
  running.get("a")?.fail();
  await stopping;
});

test("a flood of keys leaves the event loop its turns", async () => {
  let processed = 0;
  const { clock, queue } = manualQueue({
    process: async () => {
      processed++;
    },
  });
  for (let i = 0; i < 10_000; i++) queue.add(`key-${i}`);
  await clock.settle();
  expect(processed).toBeLessThan(1000);
  await clock.runUntil(() => processed === 10_000);
});

test("metrics see adds, waits, work and retries", async () => {
  const seen: string[] = [];
  const { clock, queue, running } = manualQueue({
    concurrency: 1,
    metrics: () => ({
      added: () => seen.push("added"),
      retried: () => seen.push("retried"),
      taken: (ms) => seen.push(`waited ${ms}`),
      processed: (ms) => seen.push(`worked ${ms}`),
    }),
  });
  queue.add("a");
  queue.add("b");
  await clock.advance(30);
  expect(queue.unfinishedWorkMs()).toEqual({ total: 30, longest: 30 });
  running.get("a")?.fail();
  await clock.settle();
  expect(seen).toEqual(["added", "waited 0", "added", "worked 30", "retried", "waited 30"]);
});

test("whatever is added, nothing is lost and nothing runs beside itself", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key: fc.constantFrom("a", "b", "c") }),
    fc.record({ do: fc.constant("later" as const), key: fc.constantFrom("a", "b", "c"), ms: fc.nat(300) }),
    fc.record({
      do: fc.constant("finish" as const),
      key: fc.constantFrom("a", "b", "c"),
      with: fc.constantFrom("nothing" as const, "failure" as const, "again" as const),
    }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(200) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, queue, started, overlaps, running } = manualQueue();
      /** Keys that must run again, and how often they had begun when that was asked. */
      const owed = new Map<string, number>();
      const runs = (key: string): number => started.filter((other) => other === key).length;
      for (const action of steps) {
        if (action.do === "add" || action.do === "later") {
          owed.set(action.key, runs(action.key));
          if (action.do === "add") queue.add(action.key);
          else queue.addAfter(action.key, action.ms);
        } else if (action.do === "finish") {
          const key = running.get(action.key);
          if (action.with === "failure") key?.fail();
          else key?.finish(action.with === "again" ? { requeueAfterMs: 0 } : undefined);
        } else {
          await clock.advance(action.ms);
        }
      }
      for (let round = 0; round < 20; round++) {
        for (const key of [...running.values()]) key.finish();
        await clock.advance(2000);
      }
      for (const [key, before] of owed) expect(runs(key)).toBeGreaterThan(before);
      expect(queue.depth).toBe(0);
      expect(overlaps).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

const urgent = { reserved: 1, forMs: 1_000 };

test("an urgent key goes before the others, is moved to there, and may run when all places are taken", async () => {
  const { clock, queue, started, overlaps, running } = manualQueue({ concurrency: 1, urgent });
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  queue.addUrgent("d");
  await clock.settle();
  expect(started).toEqual(["a", "d"]);
  // The place that is kept for urgent keys stays empty for others.
  running.get("d")?.finish();
  await clock.settle();
  expect(started).toEqual(["a", "d"]);
  queue.addUrgent("c");
  queue.addUrgent("a");
  await clock.settle();
  expect(started).toEqual(["a", "d", "c"]);
  for (const key of ["c", "a", "b", "a"]) {
    running.get(key)?.finish();
    await clock.settle();
  }
  expect(started).toEqual(["a", "d", "c", "b", "a"]);
  expect(overlaps).toEqual([]);
  expect(queue.depth).toBe(0);
});

test("a key that has stood in line for long goes before the others when it becomes urgent", async () => {
  const { clock, queue, started, running } = manualQueue({ concurrency: 1, urgent: { ...urgent, reserved: 0 } });
  for (const key of ["running", "a", "b"]) queue.add(key);
  await clock.advance(5_000);
  queue.addUrgent("b");
  running.get("running")?.finish();
  await clock.settle();
  expect(started).toEqual(["running", "b"]);
});

test("of the urgent keys the newest goes first, and whoever waits for too long stands in line", async () => {
  const { clock, queue, started, running } = manualQueue({ concurrency: 1, urgent: { ...urgent, reserved: 0 } });
  const next = async (): Promise<void> => {
    running.get(started.at(-1) ?? "")?.finish();
    await clock.settle();
  };
  queue.add("running");
  queue.add("in line");
  for (const key of ["1", "2", "3"]) queue.addUrgent(key);
  await next();
  await clock.advance(1_001);
  queue.addUrgent("new");
  queue.add("2");
  for (let times = 0; times < 5; times++) await next();
  expect(started).toEqual(["running", "3", "new", "in line", "1", "2"]);
  expect(queue.depth).toBe(0);
});
