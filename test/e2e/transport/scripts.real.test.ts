/** Agents run nothing but the scripts that the manager has loaded: what that keeps them from, and what happens when they are gone. */
import { createHash } from "node:crypto";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser } from "@jobferry/shared/queue/acl.ts";
import { PREVIOUS_SCRIPTS } from "@jobferry/shared/queue/previous-scripts.ts";
import { Scripts } from "@jobferry/shared/queue/script-runner.ts";
import { SCRIPTS } from "@jobferry/shared/queue/scripts.ts";
import { Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ack, type Fleet, startFleet, until, withdrawn } from "./fleet.ts";

const c1 = parseClusterName("c1");
const reports = { cluster: c1, box: "reports" } as const;
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet(["c1"]);
});
afterAll(() => fleet.stop());
beforeEach(async () => {
  await fleet.admin.flushall();
  await fleet.admin.script("FLUSH");
  await fleet.admin.acl("LOG", "RESET");
});
afterEach(() => fleet.closeBuses());

describe("an agent with the password of its cluster", () => {
  it("cannot keep Redis busy with a script of its own, nor fill its memory with a short one", async () => {
    await fleet.manager();
    const agent = fleet.as(clusterUser(c1));
    const memory = async (): Promise<number> =>
      Number(/used_memory:(\d+)/.exec(await fleet.admin.info("memory"))?.[1] ?? Number.NaN);
    const before = await memory();
    const loop = "local x = 0 for i = 1, 60000000 do x = x + i end return 1";
    const fill = "redis.call('SET', KEYS[1], string.rep('x', 50 * 1024 * 1024)) return 1";
    for (const text of [loop, fill]) {
      await expect(agent.eval(text, 1, "{jobferry-c1}:x")).rejects.toThrow(/NOPERM/);
      await expect(agent.script("LOAD", text)).rejects.toThrow(/NOPERM/);
    }
    await expect(agent.multi().ping().exec()).rejects.toThrow(/NOPERM|EXECABORT/);
    expect(await memory()).toBeLessThan(before + 10 * 1024 * 1024);
  });

  it.each([
    ["sweep", ["active", "wait", "marker"], ["{jobferry-c1}:reports:", 1e9]],
    ["take", ["wait", "active", "prioritized", "delayed", "marker"], ["{jobferry-c1}:reports:", "t", 1, 9e15, 1e9]],
  ] as const)("makes %s of ours look at no more than some hundred of what it planted", async (name, keys, args) => {
    await fleet.manager();
    const agent = fleet.as(clusterUser(c1));
    const box = "{jobferry-c1}:reports:";
    const ids = Array.from({ length: 20_000 }, (_, index) => `planted-${index}`);
    await agent.rpush(`${box}active`, ...ids);
    await agent.zadd(`${box}delayed`, ...ids.flatMap((id) => [1, id]));
    const scripts = new Scripts({ client: agent, loads: false });
    await fleet.admin.config("RESETSTAT");
    await scripts.run(
      name,
      keys.map((key) => box + key),
      args,
    );
    const stats = await fleet.admin.info("commandstats");
    const calls = [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
    expect(calls).toBeGreaterThan(100);
    expect(calls).toBeLessThan(1_500);
  });
});

describe("scripts that Redis has forgotten", () => {
  it("are loaded again by a manager in the midst of its work, and its agents notice nothing but a moment", async () => {
    const manager = await fleet.manager();
    const agent = await fleet.agent("c1");
    const got: string[] = [];
    manager.bus.consume(reports, async (text) => void got.push(text));
    await agent.bus.send(reports, "before");
    await until(() => got.length === 1);
    await fleet.admin.script("FLUSH");
    await manager.transport.sendDelivery(c1, ack(1));
    await until(() => agent.bus.reachable);
    await agent.bus.send(reports, "after");
    await until(() => got.length === 2);
    expect(got).toEqual(["before", "after"]);
  });

  it("keep an agent waiting while there is no manager, as if Redis were away, and no longer", async () => {
    const first = await fleet.manager();
    const agent = await fleet.agent("c1");
    const seen: boolean[] = [];
    agent.bus.onReachable((reachable) => seen.push(reachable));
    const taken: unknown[] = [];
    agent.transport.onDelivery(async (delivery) => void taken.push(delivery));
    await first.bus.close(1_000);
    // What a failover, or a restart without a manager, does to them.
    await fleet.admin.script("FLUSH");
    await expect(agent.transport.sendReport(withdrawn(1))).rejects.toMatchObject({ code: "transport/no-scripts" });
    await expect(agent.transport.sendReport(withdrawn(1))).rejects.toMatchObject({ code: "transport/unreachable" });
    expect(agent.bus.reachable).toBe(false);

    const second = await fleet.manager();
    await until(() => agent.bus.reachable);
    expect(seen).toEqual([false, true]);
    const heard: unknown[] = [];
    second.transport.onReport(c1, async (report) => void heard.push(report));
    await agent.transport.sendReport(withdrawn(2));
    await second.transport.sendDelivery(c1, ack(3));
    await until(() => heard.length === 1 && taken.length === 1);
    expect(heard).toEqual([withdrawn(2)]);
    expect(await fleet.denied()).toEqual([]);
  });

  it("are waited for by an agent that starts before the manager, with a sentence that says so", async () => {
    const hasty = await fleet.agent("c1", {}, 500).catch((error: unknown) => error);
    expect(hasty).toMatchObject({ code: "transport/no-scripts" });
    expect(String(hasty)).toMatch(/does not have the scripts.*start it, or upgrade it first/);
  });

  it("are those of this release and of the one before", async () => {
    await fleet.manager();
    const hashes = Object.values(SCRIPTS).map(({ sha }) => sha);
    expect(await fleet.admin.script("EXISTS", ...hashes)).toEqual(hashes.map(() => 1));
    const agent = fleet.as(clusterUser(c1));
    for (const text of PREVIOUS_SCRIPTS) {
      const sha = createHash("sha1").update(text).digest("hex");
      expect(await fleet.admin.script("EXISTS", sha)).toEqual([1]);
    }
    // As an agent of the previous release adds a message.
    const queue = new Queue("reports", { connection: agent, prefix: "{jobferry-c1}" });
    queue.on("error", () => {});
    // Its client sends the text of a script once on each connection, which is refused, and the hash from then on.
    await expect(queue.add("message", "refused")).rejects.toThrow(/NOPERM.*eval/);
    await queue.add("message", "from an older agent");
    const manager = await fleet.manager();
    const got: string[] = [];
    manager.bus.consume(reports, async (text) => void got.push(text));
    await until(() => got.length === 1);
    expect(got).toEqual(["from an older agent"]);
    expect(await fleet.denied()).toEqual([expect.stringContaining("object eval ")]);
    await queue.close();
  });
});

describe("a box", () => {
  const bounds = { messages: 100, bytes: 1_000 };
  const text = "x".repeat(298); // 300 as JSON

  it("takes no more bytes than its bound, and more again when some were taken out", async () => {
    const { bus } = await fleet.manager({ bounds });
    for (let count = 0; count < 3; count++) await bus.send(reports, text);
    expect(await bus.bytes(reports)).toBe(900);
    await expect(bus.send(reports, text)).rejects.toMatchObject({ code: "transport/full" });
    await bus.send(reports, "small");
    const subscription = bus.consume(
      reports,
      async (message) => {
        if (message === "small") throw new Error("no");
      },
      { maxTries: 1 },
    );
    await until(async () => (await bus.bytes(reports)) === 0);
    await bus.send(reports, text);
    await until(async () => (await bus.bytes(reports)) === 0);
    await subscription.stop(1_000);
  });

  it("is not taken for full because of what an older version took out without counting", async () => {
    const { bus } = await fleet.manager({ bounds });
    for (let count = 0; count < 3; count++) await bus.send(reports, text);
    const prefix = "{jobferry-c1}:reports:";
    await fleet.admin.del(`${prefix}wait`);
    expect(await bus.bytes(reports)).toBe(900);
    await bus.send(reports, text);
    expect(await bus.bytes(reports)).toBe(300);
  });

  it("shows itself to BullMQ's tools", async () => {
    const manager = await fleet.manager();
    await manager.bus.send(reports, "plain");
    await manager.bus.send(reports, "later", { priority: 7 });
    const queue = new Queue("reports", { connection: fleet.admin, prefix: "{jobferry-c1}" });
    expect(await queue.getJobCounts("wait", "prioritized")).toEqual({ wait: 1, prioritized: 1 });
    const [job] = await queue.getJobs(["prioritized"]);
    expect(job).toMatchObject({ name: "message", data: "later", priority: 7 });
    await queue.close();
  });
});

it("a lane of logs takes a bounded number of pieces, and they do not stay for ever", async () => {
  await fleet.manager();
  const scripts = new Scripts({ client: fleet.as(clusterUser(c1)), loads: false });
  const key = "{jobferry-c1}:log-frames";
  const answers = [];
  for (let piece = 0; piece < 4; piece++) answers.push(await scripts.run("lane", [key], [Buffer.of(piece), 60_000, 3]));
  expect(answers).toEqual([1, 1, 1, 0]);
  expect(await fleet.admin.pttl(key)).toBeGreaterThan(0);
  expect(await fleet.denied()).toEqual([]);
});
