import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, startFleet } from "./fleet.ts";

let fleet: Fleet;
let agent: Redis;
let manager: Redis;

beforeAll(async () => {
  fleet = await startFleet(["c1", "c10"]);
  agent = fleet.as(clusterUser(parseClusterName("c1")));
  manager = fleet.as(MANAGER_USER);
});
afterAll(() => fleet.stop());

const own = "{jobferry-c1}:reports:x";
/** Scripts get no error code before Redis 7.2, only a sentence. */
const DENIED = /NOPERM|can't (access|run)|not allowed from script|unknown/i;
const foreign = [
  "{jobferry-c10}:deliveries:x",
  "{jobferry-c10}:reports:wait",
  "{jobferry-c1",
  "{jobferry-c1}x",
  "{jobferry-}:a",
  "x{jobferry-c1}:reports:x",
  "anything",
];

describe("an agent", () => {
  it("reaches its own keys", async () => {
    await agent.set(own, "1");
    expect(await agent.get(own)).toBe("1");
    expect(await agent.eval('return redis.call("INCR", KEYS[1])', 1, own)).toBe(2);
  });

  it.each(foreign)("does not reach %s, not even from a script", async (key) => {
    await expect(agent.get(key)).rejects.toThrow(/NOPERM/);
    await expect(agent.set(key, "1")).rejects.toThrow(/NOPERM/);
    await expect(agent.eval('return redis.call("DEL", KEYS[1])', 1, key)).rejects.toThrow(DENIED);
    await expect(agent.eval('return redis.call("DEL", ARGV[1])', 1, own, key)).rejects.toThrow(DENIED);
  });

  const forbidden = [
    ["FLUSHALL"],
    ["FLUSHDB"],
    ["SCAN", "0"],
    ["KEYS", "*"],
    ["RANDOMKEY"],
    ["DBSIZE"],
    ["CONFIG", "GET", "*"],
    ["CONFIG", "SET", "maxmemory", "1"],
    ["SCRIPT", "FLUSH"],
    ["SCRIPT", "KILL"],
    ["FUNCTION", "FLUSH"],
    ["ACL", "LIST"],
    ["ACL", "SETUSER", "x"],
    ["CLIENT", "LIST"],
    ["CLIENT", "KILL", "ID", "1"],
    ["CLIENT", "PAUSE", "1"],
    ["MONITOR"],
    ["SHUTDOWN"],
    ["REPLICAOF", "NO", "ONE"],
    ["SAVE"],
    ["MIGRATE", "h", "1", "k", "0", "1"],
    ["RENAME", own, own],
    ["COPY", own, own],
    ["SWAPDB", "0", "1"],
    ["PUBLISH", "news", "x"],
    ["SUBSCRIBE", "news"],
    ["MODULE", "LIST"],
    ["CLUSTER", "RESET"],
  ];
  it.each(forbidden)("may not %s", async (command, ...args) => {
    await expect(agent.call(command ?? "", ...args)).rejects.toThrow(/NOPERM/);
    await expect(agent.eval("return redis.call(unpack(ARGV))", 0, command ?? "", ...args)).rejects.toThrow(DENIED);
  });
});

describe("the manager", () => {
  it("reaches every prefix of ours, and nothing else", async () => {
    for (const key of [own, "{jobferry-c10}:reports:x"]) await manager.set(key, "1");
    await expect(manager.get("anything")).rejects.toThrow(/NOPERM/);
    await expect(manager.get("{other}:x")).rejects.toThrow(/NOPERM/);
  });

  it.each(["FLUSHALL", "RANDOMKEY", "DBSIZE", "MONITOR"])("may not %s", async (command) => {
    await expect(manager.call(command)).rejects.toThrow(/NOPERM/);
  });
});
