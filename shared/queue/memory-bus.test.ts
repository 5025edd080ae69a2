import { beforeEach, describe, expect, it } from "vitest";
import { generateKeyPair } from "../protocol/keys.ts";
import { hubUid, parseClusterName } from "../protocol/names.ts";
import type { Report } from "../protocol/report.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import type { Address } from "./bus.ts";
import { MemoryBus } from "./memory-bus.ts";
import { agentTransport, managerTransport } from "./transport.ts";

const east = parseClusterName("east");
const box: Address = { cluster: east, box: "reports" };
let clock: VirtualClock;
let bus: MemoryBus;
let got: string[];
const collect = async (text: string): Promise<void> => {
  got.push(text);
};

beforeEach(() => {
  clock = new VirtualClock();
  bus = new MemoryBus({ clock, bounds: { messages: 3, bytes: 1_000 } });
  got = [];
});

describe("handing over", () => {
  it("gives waiting and later messages to the receiver, in order", async () => {
    await bus.send(box, "a");
    bus.consume(box, collect);
    await bus.send(box, "b");
    await clock.settle();
    expect(got).toEqual(["a", "b"]);
    expect(await bus.waiting(box)).toBe(0);
  });

  it("takes no more bytes than a box may hold, until some are taken out", async () => {
    await bus.send(box, "x".repeat(700));
    await expect(bus.send(box, "x".repeat(301))).rejects.toMatchObject({ code: "transport/full" });
    await bus.send(box, "x".repeat(300));
    expect(await bus.bytes(box)).toBe(1_000);
    bus.consume(box, collect);
    await clock.settle();
    expect(await bus.bytes(box)).toBe(0);
    await bus.send(box, "x".repeat(900));
  });

  it("keeps boxes apart", async () => {
    bus.consume({ cluster: parseClusterName("west"), box: "reports" }, collect);
    bus.consume({ cluster: east, box: "deliveries" }, collect);
    await bus.send(box, "a");
    await clock.settle();
    expect(got).toEqual([]);
  });

  it("puts the urgent first, equals in order of arrival (scenario A13)", async () => {
    await bus.send(box, "later", { priority: 5 });
    await bus.send(box, "soon", { priority: 1 });
    await bus.send(box, "soon too", { priority: 1 });
    bus.consume(box, collect, { concurrency: 1 });
    await clock.settle();
    expect(got).toEqual(["soon", "soon too", "later"]);
  });

  it("refuses more than the cap, and says so", async () => {
    for (const text of ["a", "b", "c"]) await bus.send(box, text);
    await expect(bus.send(box, "d")).rejects.toMatchObject({ code: "transport/full" });
    bus.consume(box, collect);
    await clock.settle();
    await bus.send(box, "e");
    await clock.settle();
    expect(got).toEqual(["a", "b", "c", "e"]);
  });

  it("runs at most `concurrency` handlers at a time", async () => {
    let running = 0;
    let most = 0;
    bus.consume(
      box,
      async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => clock.after(10, resolve));
        running--;
      },
      { concurrency: 2 },
    );
    for (const text of ["a", "b", "c"]) await bus.send(box, text);
    await clock.advance(100);
    expect({ most, running }).toEqual({ most: 2, running: 0 });
  });
});

describe("trouble", () => {
  it("tries a failed message again after a growing pause, then quarantines it; neighbours go on", async () => {
    const times: number[] = [];
    bus.consume(
      box,
      async (text) => {
        if (text === "good") return collect(text);
        times.push(clock.monotonic());
        throw new Error("no luck");
      },
      { maxTries: 3, backoff: { baseMs: 100, maxMs: 150 } },
    );
    await bus.send(box, "bad");
    await bus.send(box, "good");
    await clock.advance(10_000);
    expect(times).toEqual([0, 100, 250]);
    expect(got).toEqual(["good"]);
    expect(bus.quarantine).toEqual([{ address: box, code: "tries", reason: "no luck" }]);
  });

  it("counts a handler that never ends as failed, and aborts it", async () => {
    let aborted = 0;
    bus.consume(
      box,
      (_text, signal) => {
        signal.addEventListener("abort", () => aborted++);
        return new Promise(() => {});
      },
      { maxTries: 2, deadlineMs: 1000, concurrency: 1 },
    );
    await bus.send(box, "a");
    await clock.advance(60_000);
    expect(aborted).toBe(2);
    expect(bus.quarantine[0]?.reason).toMatch(/longer than 1000 ms/);
  });

  it("loses, doubles, delays and reorders on demand", async () => {
    bus.fate = (_address, text) => ({ lost: [], twice: [0, 50], late: [100] })[text] ?? [0];
    bus.consume(box, collect);
    for (const text of ["late", "lost", "twice"]) await bus.send(box, text);
    await clock.advance(1000);
    expect(got).toEqual(["twice", "twice", "late"]);
  });

  it("fails to send during an outage, keeps what waits, and goes on afterwards", async () => {
    const seen: boolean[] = [];
    bus.onReachable((reachable) => seen.push(reachable));
    await bus.send(box, "a");
    bus.setReachable(false);
    bus.consume(box, collect);
    await expect(bus.send(box, "b")).rejects.toMatchObject({ code: "transport/unreachable" });
    await clock.settle();
    expect(got).toEqual([]);
    bus.setReachable(true);
    await clock.settle();
    expect(got).toEqual(["a"]);
    expect(seen).toEqual([false, true]);
  });

  it("forgets everything when flushed, messages under retry included (B FLUSHALL)", async () => {
    bus.consume(box, async () => Promise.reject(new Error("later")));
    await bus.send(box, "a");
    await clock.settle();
    expect(await bus.waiting(box)).toBe(1);
    bus.flush();
    await clock.advance(60_000);
    expect(await bus.waiting(box)).toBe(0);
    expect(bus.quarantine).toEqual([]);
  });

  it("does not bring back a flushed message whose handler fails afterwards", async () => {
    bus.consume(box, async () => {
      bus.flush();
      throw new Error("too late");
    });
    await bus.send(box, "a");
    await clock.settle();
    expect(await bus.waiting(box)).toBe(0);
  });

  it("gives the messages of a stopped receiver to the next one", async () => {
    const stuck = bus.consume(box, () => new Promise(() => {}), { deadlineMs: 1e6 });
    await bus.send(box, "a");
    await clock.settle();
    const stopped = stuck.stop(500);
    await clock.advance(500);
    expect(await stopped).toEqual({ abandoned: 1 });
    bus.consume(box, collect);
    await clock.settle();
    expect(got).toEqual(["a"]);
  });

  it("takes nothing new once stopped or closed", async () => {
    const subscription = bus.consume(box, collect);
    expect(await subscription.stop(1000)).toEqual({ abandoned: 0 });
    await bus.send(box, "a");
    await bus.close(1000);
    await clock.settle();
    expect(got).toEqual([]);
    await expect(bus.send(box, "b")).rejects.toMatchObject({ code: "transport/closed" });
  });
});

describe("transports over it", () => {
  const managerKeys = generateKeyPair();
  const agentKeys = generateKeyPair();
  const uid = hubUid.parse("u-1");
  const withdrawn = { kind: "withdrawn", uid, epoch: 1 } as unknown as Report;

  it("quarantine at once what another key sealed, and count it", async () => {
    const manager = managerTransport({
      bus,
      keys: [managerKeys],
      clusterKeys: () => [agentKeys.publicKey],
    });
    const intruder = agentTransport({
      bus,
      cluster: east,
      keys: [generateKeyPair()],
      managerKeys: [managerKeys.publicKey],
    });
    const agent = agentTransport({
      bus,
      cluster: east,
      keys: [agentKeys],
      managerKeys: [managerKeys.publicKey],
    });
    const reports: Report[] = [];
    manager.onReport(east, async (report) => {
      reports.push(report);
    });
    await intruder.sendReport(withdrawn);
    await agent.sendReport(withdrawn);
    await clock.settle();
    expect(reports).toEqual([withdrawn]);
    expect(bus.quarantine.map(({ code }) => code)).toEqual(["protocol/unknown-key"]);
  });
});
