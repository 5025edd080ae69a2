/** Both ends of the way of logs, with what a worker's API server would say. */

import { LogReader } from "@jobferry/manager/pods/log-reader.ts";
import { EAST, epochOf, UID } from "@jobferry/manager/testing/hub-job.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { PodLogs } from "@jobferry/shared/kube/pod-logs.ts";
import type { ListPods, ReadLog } from "@jobferry/shared/protocol/delivery.ts";
import { WINDOW_BYTES } from "@jobferry/shared/protocol/log-frames.ts";
import type { LaneAddress } from "@jobferry/shared/queue/lanes.ts";
import { MemoryLanes } from "@jobferry/shared/queue/memory-lanes.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { LogSender } from "@jobferry/worker-agent/pods/log-sender.ts";
import { beforeEach, describe, expect, it } from "vitest";

const target = { cluster: EAST, uid: UID, epoch: epochOf(1), pod: { name: "pi-1", uid: "u1" }, container: "main" };

let clock: VirtualClock;
let lanes: MemoryLanes;
let sender: LogSender;
let reader: LogReader;
let source: PodLogs["readLog"];
let isAgentThere: boolean;

beforeEach(() => {
  clock = new VirtualClock();
  lanes = new MemoryLanes();
  isAgentThere = true;
  sender = new LogSender({
    ...{ lanes, clock, logger: silentLogger, cluster: EAST },
    logs: { readLog: (...args) => source(...args) },
    pods: {
      find: async (_, { uid }) => (uid === "u1" ? { namespace: "team", name: "pi-1" } : undefined),
      list: async () => undefined,
    },
  });
  const ask = async (_: unknown, asked: ReadLog | ListPods): Promise<void> => {
    if (isAgentThere) sender.take(asked);
  };
  reader = new LogReader({ lanes, clock, ask });
});

/** What the worker's API server sends. */
const says = (...chunks: (string | Buffer)[]) => {
  source = async () =>
    (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })();
};

async function whole(options = {}, of = target): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await reader.read(of, options)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("a log", () => {
  it("arrives byte by byte, however it was cut", async () => {
    const binary = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 256));
    says("one\n", binary, "two\n");
    expect((await whole()).equals(Buffer.concat([Buffer.from("one\n"), binary, Buffer.from("two\n")]))).toBe(true);
    expect(reader.size).toBe(0);
  });

  it("is asked for with the options of its reader", async () => {
    const asked: unknown[] = [];
    source = async (key, options) => {
      asked.push(key, options);
      return (async function* () {})();
    };
    await whole({ tailLines: 3, follow: true });
    expect(asked).toEqual([
      { namespace: "team", name: "pi-1" },
      { tailLines: 3, follow: true, container: "main" },
    ]);
  });

  it("crosses sealed: what it says is in no piece", async () => {
    const pieces: Buffer[] = [];
    const push = lanes.push.bind(lanes);
    lanes.push = (address: LaneAddress, piece: Buffer) => {
      pieces.push(piece);
      return push(address, piece);
    };
    says("the secret of the log");
    await whole();
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.some((piece) => piece.includes("secret"))).toBe(false);
  });

  it("is read no further than its reader reads", async () => {
    let produced = 0;
    source = async () =>
      (async function* () {
        for (; produced < 100_000_000; produced += 65_536) yield Buffer.alloc(65_536);
      })();
    const chunks = await reader.read(target, {});
    await clock.advance(1);
    expect(produced).toBeLessThanOrEqual(WINDOW_BYTES + 65_536);
    for (let read = 0; read < 20; read++) await chunks.next();
    await clock.advance(1);
    expect(produced).toBeGreaterThan(1_000_000);
    await chunks.return(undefined);
    await clock.advance(1);
    const before = produced;
    await clock.advance(60_000);
    expect(produced).toBe(before);
  });
});

it("a log goes on whose window has become smaller than the piece that waits", async () => {
  const block = Buffer.alloc(200_000, "x");
  says(...Array.from({ length: 10 }, () => block));
  const first = await reader.read(target, {});
  await clock.advance(1);
  // Its window is full by now, and a piece of it waits; with these, windows have room for less than that.
  const others = await Promise.all(Array.from({ length: 150 }, () => reader.read(target, {})));
  let bytes = 0;
  for await (const chunk of first) bytes += chunk.length;
  expect(bytes).toBe(2_000_000);
  await Promise.all(others.map((each) => each.return(undefined)));
});

it("many short lines are joined while nobody reads, and nothing is lost", async () => {
  const lines = Array.from({ length: 5_000 }, (_, line) => `line ${line}\n`);
  says(...lines);
  const chunks = await reader.read(target, {});
  await clock.advance(1);
  const received: Buffer[] = [];
  for await (const chunk of chunks) received.push(chunk);
  expect(Buffer.concat(received).toString()).toBe(lines.join(""));
  expect(received.length).toBeLessThan(100);
});

it("a reader that leaves while nothing is written ends the reading on the worker", async () => {
  let ended = false;
  source = async (_, __, signal) => {
    signal.addEventListener("abort", () => {
      ended = true;
    });
    return (async function* () {
      yield Buffer.from("first\n");
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    })();
  };
  const leaving = new AbortController();
  const chunks = await reader.read(target, { follow: true }, leaving.signal);
  await chunks.next();
  const next = chunks.next();
  leaving.abort();
  expect((await next).done).toBe(true);
  await clock.advance(1);
  expect(ended).toBe(true);
  expect(reader.size).toBe(0);
});

describe("it ends with an error, and never hangs, when", () => {
  const forever = (): void => {
    source = async (_, __, signal) =>
      (async function* () {
        yield Buffer.from("first\n");
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      })();
  };
  const failure = async (reading: Promise<unknown>): Promise<{ code?: number; message: string }> => {
    const caught = reading.then(
      () => ({ message: "no error" }),
      (error: { code?: number; message: string }) => error,
    );
    await clock.advance(60_000);
    return caught;
  };

  it.each([
    ["the pod is gone", { ...target, pod: { name: "pi-0", uid: "u0" } }, 404, /gone from its cluster/],
    ["the API server refuses it", target, 400, /is waiting to start/],
  ])("%s", async (_, of, code, message) => {
    source = () => Promise.reject(new ApiError(400, "BadRequest", 'container "main" is waiting to start'));
    expect(await failure(whole({}, of))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it("the agent does not answer", async () => {
    isAgentThere = false;
    expect(await failure(whole())).toMatchObject({ code: 504, message: expect.stringMatching(/does not answer/) });
  });

  it("the agent dies in the middle", async () => {
    forever();
    const chunks = await reader.read(target, { follow: true });
    expect((await chunks.next()).value?.toString()).toBe("first\n");
    // As a crash: it says nothing more.
    lanes.push = async () => {};
    expect(await failure(chunks.next())).toMatchObject({ code: 504 });
  });

  it("Redis restarts", async () => {
    forever();
    const chunks = await reader.read(target, { follow: true });
    await chunks.next();
    lanes.lose();
    expect(await failure(chunks.next())).toMatchObject({ code: 502, message: expect.stringMatching(/Redis/) });
  });

  it("a piece is lost, or made up", async () => {
    forever();
    const chunks = await reader.read(target, { follow: true });
    await chunks.next();
    const push = lanes.push.bind(lanes);
    const forged = (piece: Buffer): Buffer => Buffer.concat([piece.subarray(0, 20), Buffer.alloc(30)]);
    lanes.push = (address, piece) => push(address, address.lane === "log-frames" ? forged(piece) : piece);
    expect(await failure(chunks.next())).toMatchObject({ code: 502, message: expect.stringMatching(/broke off/) });
  });

  it("the reader goes away: the worker is not read any more", async () => {
    let ended = false;
    source = async (_, __, signal) => {
      signal.addEventListener("abort", () => {
        ended = true;
      });
      return (async function* () {
        yield Buffer.from("first\n");
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      })();
    };
    const chunks = await reader.read(target, { follow: true });
    await chunks.next();
    await chunks.return(undefined);
    await clock.advance(1);
    expect(ended).toBe(true);
  });
});
