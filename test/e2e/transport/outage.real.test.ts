import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Address } from "@jobferry/shared/queue/bus.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startRedis, type TestRedis } from "../../harness/redis.ts";
import { until } from "./fleet.ts";
import { TcpProxy } from "./proxy.ts";

const box: Address = { cluster: parseClusterName("c1"), box: "deliveries" };
let redis: TestRedis;
let admin: Redis;
let proxy: TcpProxy;
let sender: RedisBus;
let receiver: RedisBus;
let got: string[];

const bus = (url: string): RedisBus => new RedisBus({ config: { url }, clock: realClock, logger: silentLogger });
const collect = async (text: string): Promise<void> => {
  got.push(text);
};

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
});
afterAll(async () => {
  admin.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  await admin.flushall();
  got = [];
  proxy = await TcpProxy.start(new URL(redis.url));
  sender = bus(proxy.url);
  receiver = bus(proxy.url);
  await Promise.all([sender.start(30_000), receiver.start(30_000)]);
});
afterEach(async () => {
  await Promise.all([sender.close(500), receiver.close(500)]);
  await proxy.stop();
});

describe("Redis away and back", () => {
  it("fails fast while the connection is cut, says so, and goes on by itself", async () => {
    const seen: boolean[] = [];
    sender.onReachable((reachable) => seen.push(reachable));
    receiver.consume(box, collect);
    await sender.send(box, "before");
    await until(() => got.length === 1);
    proxy.cut();
    await until(() => !sender.reachable);
    await expect(sender.send(box, "during")).rejects.toMatchObject({ code: "transport/unreachable" });
    proxy.open();
    await until(() => sender.reachable);
    await sender.send(box, "after");
    await until(() => got.includes("after"));
    expect(seen).toEqual([false, true]);
    expect(got).toEqual(["before", "after"]);
  });

  it("gives up on a connection that stands but answers nothing, and recovers", async () => {
    receiver.consume(box, collect);
    await sender.send(box, "before");
    await until(() => got.length === 1);
    proxy.silence();
    await expect(sender.send(box, "during")).rejects.toMatchObject({ code: "transport/unreachable" });
    proxy.open();
    const sent = (): Promise<boolean> =>
      sender.send(box, "after").then(
        () => true,
        () => false,
      );
    await until(sent);
    await until(() => got.includes("after"));
  });

  it("a message taken just before the cut is handled again, not lost", async () => {
    let cut = true;
    receiver.consume(
      box,
      async (text) => {
        got.push(text);
        if (cut) proxy.cut();
        cut = false;
      },
      { deadlineMs: 100, stalledCheckMs: 300 },
    );
    await sender.send(box, "a");
    await until(() => !receiver.reachable);
    proxy.open();
    await until(() => got.length === 2);
    expect(got).toEqual(["a", "a"]);
  });

  it("FLUSHALL loses what waits and nothing more (scenario B)", async () => {
    await sender.send(box, "lost");
    await admin.flushall();
    receiver.consume(box, collect);
    await sender.send(box, "a");
    await until(() => got.length === 1);
    await admin.flushall();
    await admin.script("FLUSH");
    await sender.send(box, "b");
    await until(() => got.length === 2);
    expect(got).toEqual(["a", "b"]);
  });

  it("memory exhausted: a typed refusal, and recovery without loss (scenario B)", async () => {
    receiver.consume(box, collect);
    const { 1: before = "0" } = (await admin.config("GET", "maxmemory")) as string[];
    await admin.config("SET", "maxmemory", "1");
    await expect(sender.send(box, "a")).rejects.toMatchObject({ code: "transport/rejected" });
    await admin.config("SET", "maxmemory", before);
    await sender.send(box, "b");
    await until(() => got.length === 1);
    expect(got).toEqual(["b"]);
  });
});

describe("start", () => {
  it("names what keeps it from Redis, within its deadline", async () => {
    const nowhere = bus("redis://127.0.0.1:1");
    await expect(nowhere.start(2_000)).rejects.toThrow(/Redis does not answer; check its address.*ECONNREFUSED/);
    await nowhere.close(100);
  });

  it("refuses a server that evicts keys", async () => {
    await admin.config("SET", "maxmemory-policy", "allkeys-lru");
    try {
      await expect(sender.start(30_000)).rejects.toThrow(/set it to noeviction/);
    } finally {
      await admin.config("SET", "maxmemory-policy", "noeviction");
    }
  });

  it("says when the password is wrong", async () => {
    const stranger = new RedisBus({
      config: { url: redis.url, username: "nobody", password: "wrong" },
      clock: realClock,
      logger: silentLogger,
    });
    await expect(stranger.start(30_000)).rejects.toThrow(/WRONGPASS/);
    await stranger.close(100);
  });
});
