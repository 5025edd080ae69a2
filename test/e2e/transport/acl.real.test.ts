import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { Scripts } from "@jobferry/shared/queue/script-runner.ts";
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
  await new Scripts({ client: manager, loads: true }).load();
});
afterAll(() => fleet.stop());

const own = "{jobferry-c1}:reports:x";
const pushKeys = (box: string): string[] =>
  ["wait", "prioritized", "delayed", "active", "marker", "id", "bytes"].map((key) => box + key);
const pushed = (box: string): (string | number)[] => [box, '"x"', 0, 1, 100, 1_000];
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
    const scripts = new Scripts({ client: agent, loads: false });
    expect(await scripts.run("push", pushKeys("{jobferry-c1}:reports:"), pushed("{jobferry-c1}:reports:"))).toBe(1);
  });

  it.each(foreign)("does not reach %s, not even from a script", async (key) => {
    await expect(agent.get(key)).rejects.toThrow(/NOPERM/);
    await expect(agent.set(key, "1")).rejects.toThrow(/NOPERM/);
    const scripts = new Scripts({ client: agent, loads: false });
    await expect(scripts.run("lane", [key], ["x", 1, 10])).rejects.toThrow(DENIED);
    // Keys that a script makes from its arguments are judged like the others.
    const keys = pushKeys("{jobferry-c1}:reports:");
    await expect(scripts.run("push", keys, pushed(key))).rejects.toThrow(DENIED);
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
    ["EVAL", "return 1", "0"],
    ["EVAL_RO", "return 1", "0"],
    ["SCRIPT", "LOAD", "return 1"],
    ["SCRIPT", "EXISTS", "x"],
    ["FCALL", "f", "0"],
    ["FUNCTION", "LOAD", "x"],
    ["MULTI"],
    ["LRANGE", own, "0", "-1"],
    ["HGETALL", own],
    ["SMEMBERS", own],
    ["SORT", own],
    ["SETRANGE", own, "500000000", "x"],
    ["SETBIT", own, "4000000000", "1"],
    ["APPEND", own, "x"],
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

it("a user's password is changed without a gap: two are good, then the former is taken away", async () => {
  const user = clusterUser(parseClusterName("c1"));
  const standing = fleet.as(user);
  await standing.ping();
  await fleet.admin.acl("SETUSER", user, ">the-next-one");
  const [before, after] = [fleet.as(user), fleet.as(user, "the-next-one")];
  expect(await Promise.all([standing.ping(), before.ping(), after.ping()])).toEqual(["PONG", "PONG", "PONG"]);
  await fleet.admin.acl("SETUSER", user, "<for-tests-only");
  // Those that are in stay in; with the former one nobody gets in any more.
  expect(await Promise.all([standing.ping(), after.ping(), fleet.as(user, "the-next-one").ping()])).toHaveLength(3);
  await expect(fleet.as(user).ping()).rejects.toThrow();
  await fleet.admin.acl("SETUSER", user, ">for-tests-only");
});
