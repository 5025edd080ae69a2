/** What an agent can do to the manager and to other clusters by writing into its own prefix. */

import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { Box } from "@jobferry/shared/queue/box.ts";
import { Scripts } from "@jobferry/shared/queue/script-runner.ts";
import { MAX_SWEPT } from "@jobferry/shared/queue/scripts.ts";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ack, type Fleet, startFleet, until, withdrawn } from "./fleet.ts";

const evil = parseClusterName("evil");
const good = parseClusterName("good");
const box = "{jobferry-evil}:reports:";
const victims = "{jobferry-good}:deliveries";
let fleet: Fleet;
let agent: Redis;

beforeAll(async () => {
  fleet = await startFleet(["evil", "good"]);
  agent = fleet.as(clusterUser(evil));
});
afterAll(() => fleet.stop());
beforeEach(async () => {
  await fleet.admin.flushall();
});
afterEach(() => fleet.closeBuses());

/** A message whose hash claims parents and children in another cluster's queue. */
async function plant(id: string, extra: Record<string, string> = {}): Promise<void> {
  const victim = `${victims}:1`;
  await agent.hset(`${box}${id}`, {
    name: "message",
    data: '"junk"',
    opts: JSON.stringify({ attempts: 1e9, removeOnComplete: true, removeOnFail: true, fpof: true }),
    timestamp: "1",
    delay: "0",
    priority: "0",
    parentKey: victim,
    parent: JSON.stringify({ id: "1", queueKey: victims, fpof: true, cpof: true, rdof: true, idof: true }),
    rjk: "scheduler",
    deid: "dedup",
    defa: "child failed",
    ...extra,
  });
  await fleet.admin.sadd(`${box}${id}:dependencies`, victim, `${victims}:2`);
  await agent.hset(`${box}${id}:processed`, victim, "1");
  await agent.hset(`${box}${id}:failed`, victim, "1");
  await agent.zadd(`${box}${id}:unsuccessful`, 1, victim);
  await agent.set(`${box}de:dedup`, id);
  await agent.lpush(`${box}wait`, id);
  await agent.zadd(`${box}marker`, 0, "0");
}

async function snapshot(pattern: string): Promise<Record<string, string>> {
  const keys = (await fleet.admin.keys(pattern)).toSorted();
  const dumps = await Promise.all(keys.map(async (key) => (await fleet.admin.dumpBuffer(key))?.toString("hex") ?? ""));
  return Object.fromEntries(keys.map((key, position) => [key, dumps[position] ?? ""]));
}

describe("a crafted job hash", () => {
  it("lets BullMQ's own remove delete another cluster's messages: why the manager never calls it", async () => {
    const manager = await fleet.manager();
    await manager.transport.sendDelivery(good, ack(1));
    await plant("bomb");
    const queue = new Queue("reports", { connection: fleet.as(MANAGER_USER), prefix: "{jobferry-evil}" });
    await queue.remove("bomb", { removeChildren: true });
    expect(await fleet.admin.exists(`${victims}:1`)).toBe(0);
    await queue.close();
  });

  it("does not lead the receiver out of its prefix, whether it succeeds, fails or stalls", async () => {
    const manager = await fleet.manager();
    await manager.transport.sendDelivery(good, ack(1));
    await manager.transport.sendDelivery(good, ack(2));
    const before = await snapshot("{jobferry-good}*");
    const monitor = await fleet.admin.monitor();
    const touched: string[] = [];
    monitor.on("monitor", (_time: string, args: string[]) => touched.push(args.join(" ").slice(0, 4000)));

    const handled: string[] = [];
    for (const id of ["done", "retry", "quarantine"]) await plant(id, { data: JSON.stringify(id) });
    await plant("lost", { data: '"done"' });
    await agent.lrem(`${box}wait`, 0, "lost");
    await agent.lpush(`${box}active`, "lost");
    await fleet.admin.sadd(`${box}stalled`, "lost");
    await plant("postponed", { data: '"done"' });
    await agent.lrem(`${box}wait`, 0, "postponed");
    await agent.zadd(`${box}delayed`, 1, "postponed");
    await plant("urgent", { data: '"done"', priority: "5" });
    await agent.lrem(`${box}wait`, 0, "urgent");
    await agent.zadd(`${box}prioritized`, 5, "urgent");
    const subscription = manager.bus.consume(
      { cluster: evil, box: "reports" },
      async (text) => {
        handled.push(text);
        if (text === "quarantine") throw new Error("no");
        if (text === "retry" && handled.filter((one) => one === "retry").length === 1) throw new Error("no");
      },
      { maxTries: 2, backoff: { baseMs: 10, maxMs: 10 }, stalledCheckMs: 100 },
    );
    await until(() => manager.quarantine.length === 1 && handled.length === 8);
    await until(async () => (await fleet.admin.llen(`${box}active`)) === 0);
    await subscription.stop(1_000);
    await manager.transport.sendDelivery(evil, ack(3));
    await agent.get(`${box}the-end`);
    await until(() => touched.some((line) => line.endsWith("the-end")));
    monitor.disconnect();
    const lines = touched.slice(
      0,
      touched.findIndex((line) => line.endsWith("the-end")),
    );

    expect(handled.toSorted()).toEqual(["done", "done", "done", "done", "quarantine", "quarantine", "retry", "retry"]);
    expect(await snapshot("{jobferry-good}*")).toEqual(before);
    // The planted hashes name the victim, and so do the lines that plant them; nothing else may.
    const reached = lines.filter(
      (line) => line.includes("{jobferry-good}") && !/^(hset|sadd|zadd) \{jobferry-evil/.test(line),
    );
    expect(reached).toEqual([]);
    expect(lines.length).toBeGreaterThan(50);
  });
});

describe("rubbish in a box", () => {
  it("that pretends to be in hand is swept some at a time, however much there is", async () => {
    await fleet.manager();
    const planted = 20_000;
    const ids = Array.from({ length: planted }, (_, index) => `planted-${index}`);
    await agent.lpush(`${box}active`, ...ids);
    await fleet.admin.sadd(`${box}stalled`, ...ids);
    const sweeper = fleet.as(MANAGER_USER);
    const reports = new Box(new Scripts({ client: sweeper, loads: true }), "{jobferry-evil}", "reports");
    await fleet.admin.config("RESETSTAT");
    // None of them has a hash: they go, and nothing is handed out.
    expect(await reports.sweep()).toBe(0);
    expect(await fleet.admin.llen(`${box}active`)).toBe(planted - MAX_SWEPT);
    // A message that is there and whose lock has ended comes back, once it is its turn; one that is locked stays.
    await agent.hset(`${box}lost`, "data", '"junk"');
    await agent.hset(`${box}held`, "data", '"junk"');
    await agent.set(`${box}held:lock`, "somebody");
    await agent.rpush(`${box}active`, "held", "lost");
    expect(await reports.sweep()).toBe(1);
    expect(await fleet.admin.lrange(`${box}wait`, 0, -1)).toEqual(["lost"]);
    expect((await fleet.admin.lrange(`${box}active`, 0, -1)).includes("held")).toBe(true);
    // Every message of the list costs one look, not one look at the whole list.
    const calls = /cmdstat_lrem:calls=(\d+)/.exec(await fleet.admin.info("commandstats"))?.[1];
    expect(Number(calls)).toBeLessThanOrEqual(2 * MAX_SWEPT);
  });

  it("is quarantined without being read when it is too large, and never stops the messages behind it", async () => {
    const manager = await fleet.manager();
    const evilAgent = await fleet.agent("evil");
    const reports: Report[] = [];
    await plant("large", { data: JSON.stringify("a".repeat(10_000_000)) });
    await plant("object", { data: '{"a":1}' });
    await plant("broken", { data: '{"a":', opts: "{{{", parent: "}}}" });
    await agent.lpush(`${box}wait`, "without-a-hash", "0:0", "", "a:b:c");
    await evilAgent.transport.sendReport(withdrawn(7));
    const subscription = manager.transport.onReport(evil, async (report) => {
      reports.push(report);
    });
    await until(() => reports.length === 1 && manager.quarantine.length === 7);
    const codes = manager.quarantine.map(({ code }) => code).toSorted();
    expect(codes).toEqual([...Array.from({ length: 6 }, () => "protocol/malformed"), "protocol/too-large"]);
    expect(await fleet.admin.hexists(`${box}large`, "data")).toBe(0);
    await subscription.stop(1_000);
  });

  it("of the wrong type stops that cluster alone", async () => {
    const manager = await fleet.manager();
    const neighbour = await fleet.agent("good");
    const reports: Report[] = [];
    for (const key of ["wait", "active", "marker", "delayed", "stalled"]) await agent.set(`${box}${key}`, "x");
    const subscriptions = [evil, good].map((cluster) =>
      manager.transport.onReport(cluster, async (report) => {
        reports.push(report);
      }),
    );
    await neighbour.transport.sendReport(withdrawn(1));
    await until(() => reports.length === 1);
    await agent.del(...["wait", "active", "marker", "delayed", "stalled"].map((key) => `${box}${key}`));
    const healed = await fleet.agent("evil");
    await healed.transport.sendReport(withdrawn(2));
    await until(() => reports.length === 2);
    await Promise.all(subscriptions.map((subscription) => subscription.stop(1_000)));
  });

  it("a paused or rate-limited queue does not keep the manager from its messages", async () => {
    const manager = await fleet.manager();
    const evilAgent = await fleet.agent("evil");
    const reports: Report[] = [];
    await agent.hset(`${box}meta`, "paused", "1", "concurrency", "0", "max", "0", "duration", "1000000");
    await evilAgent.transport.sendReport(withdrawn(1));
    const subscription = manager.transport.onReport(evil, async (report) => {
      reports.push(report);
    });
    await until(() => reports.length === 1);
    await subscription.stop(1_000);
  });
});
