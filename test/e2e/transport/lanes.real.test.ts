/** The ways of log streams over a real Redis that is lost. */
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { RedisLanes } from "@jobferry/shared/queue/redis-lanes.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRedis, type TestRedis } from "../../harness/redis.ts";

const cluster = parseClusterName("east");
const frames = { cluster, lane: "log-frames" } as const;
let redis: TestRedis;
let admin: Redis;

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
});
afterAll(async () => {
  admin?.disconnect();
  await redis?.stop();
});

const loseAll = () => admin.call("CLIENT", "KILL", "TYPE", "normal");

it("pieces arrive in their order, however many are on their way", async () => {
  const lanes = new RedisLanes({ url: redis.url }, realClock, true);
  const arrived: number[] = [];
  const all = Promise.withResolvers<void>();
  lanes.listen(frames, (piece) => {
    arrived.push(piece.readUInt32BE());
    if (arrived.length === 1_000) all.resolve();
  });
  const numbered = (number: number): Buffer => {
    const piece = Buffer.alloc(1_000);
    piece.writeUInt32BE(number);
    return piece;
  };
  await Promise.all(Array.from({ length: 1_000 }, (_, number) => lanes.push(frames, numbered(number))));
  await all.promise;
  await lanes.close();
  expect(arrived).toEqual(Array.from({ length: 1_000 }, (_, number) => number));
});

it("who only listens hears at once that Redis is lost, and can stop while it is away", async () => {
  const lanes = new RedisLanes({ url: redis.url }, realClock, true);
  const lost = Promise.withResolvers<void>();
  lanes.onLost(() => lost.resolve());
  const listening = lanes.listen(frames, () => {});
  await expect.poll(async () => String(await admin.call("CLIENT", "LIST"))).toContain("cmd=blpop");
  const killed = loseAll();
  await lost.promise;
  await listening.stop();
  await killed;
  await lanes.close();
});
