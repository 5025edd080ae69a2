import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter, type LogOptions, LogStore, type RunLog } from "./logs.ts";

const clock = new VirtualClock(Date.UTC(2026, 0, 1));
async function read(log: RunLog | undefined, options: LogOptions = {}, signal?: AbortSignal): Promise<string> {
  let text = "";
  for await (const piece of log?.read(options, signal) ?? []) text += piece;
  return text;
}

async function threeLines(): Promise<RunLog> {
  const log = new LogStore(clock).open("u1", "c");
  for (const line of ["one\n", "two\n", "three\n"]) {
    log.append(line);
    await clock.advance(1000);
  }
  return log;
}

test("the options of kubectl logs", async () => {
  const log = await threeLines();
  expect(await read(log)).toBe("one\ntwo\nthree\n");
  expect(await read(log, { tailLines: 1 })).toBe("three\n");
  expect(await read(log, { tailLines: 0 })).toBe("");
  expect(await read(log, { sinceSeconds: 2 })).toBe("two\nthree\n");
  expect(await read(log, { limitBytes: 5 })).toBe("one\nt");
  expect(await read(log, { tailLines: 1, timestamps: true })).toMatch(/^20.*Z three\n$/);
});

test("following yields what is appended until the run ends", async () => {
  const log = new LogStore(clock).open("u1", "c");
  log.append("one\n");
  const following = read(log, { follow: true });
  await clock.settle();
  log.append("two\n");
  await clock.settle();
  log.append("three");
  log.end();
  expect(await following).toBe("one\ntwo\nthree");
});

test("following ends when the reader goes away", async () => {
  const log = new LogStore(clock).open("u1", "c");
  const gone = new AbortController();
  const following = read(log, { follow: true }, gone.signal);
  await clock.settle();
  gone.abort();
  expect(await following).toBe("");
});

test("the last two runs are kept, until the pod is removed", async () => {
  const store = new LogStore(clock);
  for (const text of ["first", "second", "third"]) {
    const log = store.open("u1", "c");
    log.append(text);
    log.end();
  }
  expect(await read(store.find("u1", "c"))).toBe("third");
  expect(await read(store.find("u1", "c", true))).toBe("second");
  store.remove("u1");
  expect(store.find("u1", "c")).toBeUndefined();
});

test("a run keeps its newest megabyte", async () => {
  const log = new LogStore(clock).open("u1", "c");
  const line = `${"x".repeat(1023)}\n`;
  for (let i = 0; i < 2000; i++) log.append(line);
  log.append("end\n");
  expect(log.bytes).toBeLessThanOrEqual(1024 * 1024);
  expect((await read(log)).endsWith("end\n")).toBe(true);
});

test("a store that is full gives up what ended first", async () => {
  const store = new LogStore(clock, 100);
  const [old, live] = [store.open("u1", "c"), store.open("u2", "c")];
  old.append("o".repeat(60));
  old.end();
  live.append("l".repeat(60));
  expect(await read(store.find("u1", "c"))).toBe("");
  expect(await read(store.find("u2", "c"))).toHaveLength(60);
});

test("however output is cut into chunks, the same lines come out", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n") })), (chunks) => {
      const lines: string[] = [];
      const splitter = new LineSplitter((line) => lines.push(line));
      for (const chunk of chunks) splitter.push(chunk);
      splitter.end();
      expect(lines).toEqual(chunks.join("").match(/[^\n]*\n|[^\n]+/g) ?? []);
    }),
  );
});

test("a line without end is cut into pieces", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  splitter.push("y".repeat(40_000));
  splitter.end();
  expect(lines.map(({ length }) => length)).toEqual([16_384, 16_384, 7232]);
});
