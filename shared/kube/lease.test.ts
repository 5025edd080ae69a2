import { describe, expect, test } from "vitest";
import { sleep } from "../runtime/clock.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import { ApiError } from "./errors.ts";
import { LeaderElector, type LeaderElectorOptions } from "./lease.ts";
import type { Lease } from "./resources.ts";
import { ScriptedApi } from "./testing/scripted-api.ts";

/** A server with one Lease, and electors that each reach it until the test cuts them off. */
function arena() {
  const clock = new VirtualClock(Date.UTC(2026, 10, 16, 12));
  let stored: Lease | undefined;
  let version = 0;
  const log: string[] = [];
  const save = (lease: Lease): Lease => {
    version++;
    stored = { ...structuredClone(lease), metadata: { ...lease.metadata, resourceVersion: String(version) } };
    return stored;
  };
  const compete = (identity: string, options: Partial<LeaderElectorOptions> = {}) => {
    let cut: "no" | "refused" | "hangs" | "applied but lost" | "answered late" = "no";
    const reach = async (signal?: AbortSignal): Promise<void> => {
      if (cut === "refused") throw new ApiError(0, "ConnectionFailed", "cut off");
      if (cut === "hangs")
        await new Promise((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
        );
    };
    const answered = async (lease: Lease): Promise<Lease> => {
      if (cut === "answered late") await sleep(clock, 1_900);
      if (cut === "applied but lost") throw new ApiError(504, "Timeout", "no answer");
      return lease;
    };
    const api = new ScriptedApi({
      get: async (_, call) => {
        await reach(call?.signal);
        if (stored === undefined) throw new ApiError(404, "NotFound", "no Lease");
        return stored;
      },
      create: async (object, call) => {
        await reach(call?.signal);
        if (stored !== undefined) throw new ApiError(409, "AlreadyExists", "someone was faster");
        return answered(save(object as unknown as Lease));
      },
      replace: async (object, call) => {
        await reach(call?.signal);
        if (object.metadata.resourceVersion !== stored?.metadata.resourceVersion)
          throw new ApiError(409, "Conflict", "someone was faster");
        return answered(save(object as unknown as Lease));
      },
    });
    const stop = new AbortController();
    const elector = new LeaderElector({
      api,
      clock,
      identity,
      lease: { namespace: "ns", name: "manager" },
      random: () => 0,
      lead: async (signal) => {
        log.push(`${identity} leads at ${clock.monotonic()}`);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        log.push(`${identity} stops at ${clock.monotonic()}`);
      },
      ...options,
    });
    const done = elector.start(stop.signal);
    return {
      elector,
      stop,
      done,
      cutOff: (how: typeof cut) => {
        cut = how;
      },
    };
  };
  const usurp = (identity: string): void => {
    if (stored !== undefined) save({ ...stored, spec: { ...stored.spec, holderIdentity: identity } });
  };
  return { clock, log, compete, usurp, lease: () => stored, remove: () => (stored = undefined) };
}

test("the first one creates the Lease and leads; times are RFC 3339 with microseconds", async () => {
  const { clock, log, compete, lease } = arena();
  const { elector } = compete("a");
  await clock.settle();
  expect(log).toEqual(["a leads at 0"]);
  expect(elector.isLeading).toBe(true);
  expect(lease()?.spec).toEqual({
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-11-16T12:00:00.000000Z",
    renewTime: "2026-11-16T12:00:00.000000Z",
    leaseTransitions: 0,
  });
  await clock.advance(4000);
  expect(lease()?.spec).toMatchObject({
    acquireTime: "2026-11-16T12:00:00.000000Z",
    renewTime: "2026-11-16T12:00:04.000000Z",
  });
});

test("of several only one leads, for as long as it renews", async () => {
  const { clock, log, compete } = arena();
  for (const identity of ["a", "b", "c"]) compete(identity);
  await clock.advance(600_000);
  expect(log).toEqual(["a leads at 0"]);
});

test("stopping gives the Lease up, and the next one need not wait", async () => {
  const { clock, log, compete, lease } = arena();
  const a = compete("a");
  await clock.settle();
  const b = compete("b");
  await clock.advance(10_500);
  a.stop.abort();
  await a.done;
  expect(lease()?.spec?.holderIdentity).toBe("");
  await clock.advance(2000);
  expect(log).toEqual(["a leads at 0", "a stops at 10500", "b leads at 12000"]);
  expect(lease()?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  expect(b.elector.leader).toBe("b");
});

test.each(["refused", "hangs", "applied but lost"] as const)(
  "a leader whose calls are %s stops before anyone else may start",
  async (how) => {
    const { clock, log, compete } = arena();
    const a = compete("a");
    await clock.settle();
    compete("b");
    await clock.advance(4_100);
    a.cutOff(how);
    await clock.advance(60_000);
    expect(log[0]).toBe("a leads at 0");
    expect(log[1]).toBe("a stops at 14000");
    if (how === "applied but lost") return;
    expect(log[2]).toMatch(/^b leads at /);
    expect(Number(log[2]?.split(" ").at(-1))).toBeGreaterThanOrEqual(19_000);
  },
);

test("the deadline counts from when the last renewal was sent, not from when its answer came", async () => {
  const { clock, log, compete } = arena();
  const a = compete("a");
  await clock.settle();
  a.cutOff("answered late");
  await clock.advance(3_900);
  a.cutOff("refused");
  await clock.advance(60_000);
  expect(log).toEqual(["a leads at 0", "a stops at 12000"]);
});

test("a short cut costs nothing", async () => {
  const { clock, log, compete } = arena();
  const a = compete("a");
  await clock.settle();
  compete("b");
  await clock.advance(5_000);
  a.cutOff("refused");
  await clock.advance(6_000);
  a.cutOff("no");
  await clock.advance(60_000);
  expect(log).toEqual(["a leads at 0"]);
});

test("a renewal whose answer was lost is recognised as our own", async () => {
  const { clock, log, compete } = arena();
  const a = compete("a");
  await clock.settle();
  a.cutOff("applied but lost");
  await clock.advance(4_000);
  a.cutOff("no");
  await clock.advance(60_000);
  expect(log).toEqual(["a leads at 0"]);
});

test("clocks that disagree by an hour change nothing: only our own waiting counts", async () => {
  const { clock, log, compete, lease } = arena();
  const a = compete("a");
  await clock.settle();
  const skewed = { ...clockView(clock), now: () => clock.now() + 3_600_000 };
  compete("b", { clock: skewed });
  await clock.advance(60_000);
  expect(log).toEqual(["a leads at 0"]);
  a.cutOff("refused");
  await clock.advance(60_000);
  expect(lease()?.spec?.holderIdentity).toBe("b");
});

const clockView = (clock: VirtualClock) => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  after: (ms: number, callback: () => void) => clock.after(ms, callback),
});

test("a leader that finds another holder stops at once", async () => {
  const { clock, log, compete, usurp } = arena();
  compete("a");
  await clock.settle();
  usurp("b");
  await clock.advance(2_000);
  expect(log).toEqual(["a leads at 0", "a stops at 2000"]);
});

test("a deleted Lease is created again by its leader", async () => {
  const { clock, log, compete, lease, remove } = arena();
  compete("a");
  await clock.settle();
  remove();
  await clock.advance(2_000);
  expect(lease()?.spec?.holderIdentity).toBe("a");
  expect(log).toEqual(["a leads at 0"]);
});

test("who lost comes back as a candidate", async () => {
  const { clock, log, compete } = arena();
  const a = compete("a");
  await clock.settle();
  a.cutOff("refused");
  await clock.advance(20_000);
  a.cutOff("no");
  await clock.advance(5_000);
  expect(log).toEqual(["a leads at 0", "a stops at 10000", "a leads at 22000"]);
});

test("what lead throws comes out, after the Lease is given up", async () => {
  const { clock, compete, lease } = arena();
  const { done } = compete("a", { lead: () => Promise.reject(new Error("broken")) });
  await expect(done).rejects.toThrow("broken");
  await clock.settle();
  expect(lease()?.spec?.holderIdentity).toBe("");
});

test("changes of leader are told", async () => {
  const { clock, compete } = arena();
  const heard: string[] = [];
  const a = compete("a");
  await clock.settle();
  compete("b", { onLeaderChange: (identity) => heard.push(identity) });
  await clock.settle();
  a.stop.abort();
  await clock.advance(4_000);
  expect(heard).toEqual(["a", "", "b"]);
});

test("durations that cannot work are refused", () => {
  const { compete } = arena();
  expect(() => compete("a", { durationMs: 5000, renewDeadlineMs: 10_000 })).toThrow("renewDeadlineMs < durationMs");
});

/** A machine that can sleep: its monotonic clock stands meanwhile, the time of day goes on. */
function aMachine(clock: VirtualClock) {
  let sleptMs = 0;
  return {
    clock: { now: () => clock.now() + sleptMs, monotonic: () => clock.monotonic(), after: clock.after.bind(clock) },
    sleep: (ms: number) => {
      sleptMs += ms;
    },
  };
}

describe("before each write", () => {
  const until = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

  test.each([
    ["end", true],
    ["hold", false],
  ] as const)("a leader whose machine slept holds the Lease no longer (%s)", async (atDeadline, ends) => {
    const { clock, compete } = arena();
    const machine = aMachine(clock);
    let holds = (): boolean => false;
    let ended = false;
    const lead = async (signal: AbortSignal, held: () => boolean): Promise<void> => {
      holds = held;
      await until(signal);
      ended = true;
    };
    const { elector } = compete("a", { clock: machine.clock, atDeadline, lead });
    await clock.advance(4_000);
    expect(holds()).toBe(true);
    machine.sleep(9_000);
    expect(holds()).toBe(true);
    machine.sleep(1_000);
    expect(holds()).toBe(false);
    await clock.settle();
    expect(ended).toBe(ends);
    // Nobody took it meanwhile: with the next renewal it is held again.
    await clock.advance(2_000);
    expect(holds()).toBe(true);
    expect(elector.isLeading).toBe(true);
  });

  test("one that holds on without its API server writes nothing, and stops when the Lease is somebody else's", async () => {
    const { clock, log, compete, usurp } = arena();
    let holds = (): boolean => false;
    const lead = async (signal: AbortSignal, held: () => boolean): Promise<void> => {
      holds = held;
      await until(signal);
      log.push("a stops");
    };
    const a = compete("a", { atDeadline: "hold", lead });
    await clock.advance(4_000);
    a.cutOff("refused");
    await clock.advance(9_900);
    expect(holds()).toBe(true);
    await clock.advance(200);
    expect(holds()).toBe(false);
    expect(a.elector.problem).toBe("cut off");
    await clock.advance(600_000);
    expect(log).toEqual([]);
    a.cutOff("no");
    await clock.advance(2_000);
    expect([holds(), a.elector.problem]).toEqual([true, undefined]);
    a.cutOff("refused");
    await clock.advance(60_000);
    usurp("b");
    a.cutOff("no");
    await clock.advance(2_000);
    expect(log).toEqual(["a stops"]);
    expect(holds()).toBe(false);
  });
});
