import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Address } from "@jobferry/shared/queue/bus.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ack, assignment, type Fleet, startFleet, until, withdrawn } from "./fleet.ts";

const c1 = parseClusterName("c1");
const c2 = parseClusterName("c2");
const reports: Address = { cluster: c1, box: "reports" };
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet(["c1", "c2"]);
});
afterAll(() => fleet.stop());
beforeEach(async () => {
  await fleet.admin.flushall();
});
afterEach(() => fleet.closeBuses());

describe("under the ACL rules", () => {
  it("messages go both ways, and each agent gets its own only", async () => {
    const manager = await fleet.manager();
    const one = await fleet.agent("c1");
    const two = await fleet.agent("c2");
    const got: Record<string, object[]> = { one: [], two: [], manager: [] };
    const keep = (who: string) => async (message: object) => {
      got[who]?.push(message);
    };
    const subscriptions = [
      one.transport.onDelivery(keep("one")),
      two.transport.onDelivery(keep("two")),
      manager.transport.onReport(c1, keep("manager")),
      manager.transport.onReport(c2, keep("manager")),
    ];
    await manager.transport.sendDelivery(c1, assignment(1));
    await manager.transport.sendDelivery(c2, ack(2));
    await one.transport.sendReport(withdrawn(1));
    await until(() => got.one?.length === 1 && got.two?.length === 1 && got.manager?.length === 1);
    expect(got.one).toEqual([assignment(1)]);
    expect(got.two).toEqual([ack(2)]);
    expect(got.manager).toEqual([withdrawn(1)]);
    expect(await fleet.denied()).toEqual([]);
    await Promise.all(subscriptions.map((subscription) => subscription.stop(1_000)));
    expect(await fleet.admin.keys("*:lock")).toEqual([]);
    expect(await manager.bus.waiting(reports)).toBe(0);
  });

  it("of a burst every message arrives, and once", async () => {
    const manager = await fleet.manager();
    const agent = await fleet.agent("c1");
    const got: string[] = [];
    agent.transport.onDelivery(async (delivery) => {
      if (delivery.kind === "release") got.push(delivery.uid);
    });
    const sent = Array.from({ length: 500 }, (_, number) => ack(number));
    for (let from = 0; from < sent.length; from += 100)
      await Promise.all(sent.slice(from, from + 100).map((delivery) => manager.transport.sendDelivery(c1, delivery)));
    await until(async () => (await agent.bus.waiting({ cluster: c1, box: "deliveries" })) === 0);
    await until(() => got.length >= sent.length);
    expect(new Set(got).size).toBe(sent.length);
    expect(got).toHaveLength(sent.length);
  });

  it("a Job near the 1.5 MiB limit goes through", async () => {
    const manager = await fleet.manager();
    const agent = await fleet.agent("c1");
    const noise = Array.from({ length: 160_000 }, (_, i) => ((i * 2_654_435_761) >>> 0).toString(36)).join("");
    const large = assignment(1, noise.slice(0, 1_100_000));
    const got: unknown[] = [];
    agent.transport.onDelivery(async (delivery) => {
      got.push(delivery);
    });
    await manager.transport.sendDelivery(c1, large);
    await until(() => got.length === 1);
    expect(got[0]).toEqual(large);
  });

  it("a failing message is tried again, then put in quarantine; its neighbours go on", async () => {
    const { bus, quarantine } = await fleet.manager();
    const seen: string[] = [];
    const subscription = bus.consume(
      reports,
      async (text) => {
        seen.push(text);
        if (text === "bad") throw new Error("no luck");
        if (text === "once" && seen.filter((one) => one === "once").length === 1) throw new Error("not yet");
      },
      { maxTries: 3, backoff: { baseMs: 20, maxMs: 40 } },
    );
    for (const text of ["bad", "once", "good"]) await bus.send(reports, text);
    await until(() => quarantine.length === 1 && seen.length === 6);
    expect(seen.toSorted()).toEqual(["bad", "bad", "bad", "good", "once", "once"]);
    expect(quarantine).toEqual([{ address: reports, code: "tries", reason: "no luck" }]);
    await until(async () => (await bus.waiting(reports)) === 0);
    const [id = ""] = await fleet.admin.zrange("{jobferry-c1}:reports:failed", "0", "-1");
    expect(await fleet.admin.hget(`{jobferry-c1}:reports:${id}`, "failedReason")).toBe("tries: no luck");
    expect(await fleet.denied()).toEqual([]);
    await subscription.stop(1_000);
  });

  it("the quarantine is bounded", async () => {
    const { bus, quarantine } = await fleet.manager();
    const subscription = bus.consume(reports, () => Promise.reject(new Error("no")), { maxTries: 1 });
    for (let number = 0; number < 130; number++) await bus.send(reports, `${number}`);
    await until(() => quarantine.length === 130);
    expect(await fleet.admin.zcard("{jobferry-c1}:reports:failed")).toBe(100);
    expect(await fleet.admin.keys("{jobferry-c1}:reports:[0-9]*")).toHaveLength(100);
    await subscription.stop(1_000);
  });

  it("a full box refuses, and accepts again when the receiver catches up", async () => {
    const { bus } = await fleet.manager({ bounds: { messages: 5, bytes: 1_000 } });
    for (let number = 0; number < 5; number++) await bus.send(reports, `${number}`);
    await expect(bus.send(reports, "6")).rejects.toMatchObject({ code: "transport/full" });
    const subscription = bus.consume(reports, async () => {});
    await until(async () => (await bus.waiting(reports)) === 0);
    await bus.send(reports, "7");
    await subscription.stop(1_000);
  });

  it("deliveries go by priority, and before them those that have none (scenario A13)", async () => {
    const { transport } = await fleet.manager();
    const { transport: agent } = await fleet.agent("c1");
    await transport.sendDelivery(c1, assignment(1), 500);
    await transport.sendDelivery(c1, assignment(2), 2);
    await transport.sendDelivery(c1, assignment(3), 2);
    await transport.sendDelivery(c1, ack(4));
    const order: string[] = [];
    const subscription = agent.onDelivery(
      async (delivery) => {
        if ("uid" in delivery) order.push(delivery.uid);
      },
      { concurrency: 1 },
    );
    await until(() => order.length >= 4);
    await subscription.stop(1_000);
    expect(order).toEqual(["u-4", "u-2", "u-3", "u-1"]);
    expect(await fleet.denied()).toEqual([]);
  });

  it("messages of a receiver that died are handed out again, a bounded number of times", async () => {
    const dying = await fleet.manager();
    const { bus, quarantine } = await fleet.manager();
    const options = { deadlineMs: 100, stalledCheckMs: 200, maxTries: 2 };
    let begun = 0;
    const first = dying.bus.consume(
      reports,
      () => {
        begun++;
        return new Promise(() => {});
      },
      { ...options, deadlineMs: 1e6 },
    );
    await bus.send(reports, "a");
    await until(() => begun === 1);
    expect(await first.stop(0)).toEqual({ abandoned: 1 });
    await fleet.admin.del(...(await fleet.admin.keys("*:lock")));
    const got: string[] = [];
    const second = bus.consume(
      reports,
      async (text) => {
        got.push(text);
      },
      options,
    );
    await until(() => got.length === 1);
    await second.stop(1_000);

    const id = "crasher";
    await fleet.admin.hset(`{jobferry-c1}:reports:${id}`, "data", '"b"', "ats", "2");
    await fleet.admin.lpush("{jobferry-c1}:reports:active", id);
    const third = bus.consume(reports, async () => {}, options);
    await until(() => quarantine.length === 1);
    expect(quarantine[0]?.reason).toBe("started 2 times without an end");
    await third.stop(1_000);
  });

  it("stop waits for running handlers up to its deadline, and no longer", async () => {
    const { bus } = await fleet.manager();
    let release = (): void => {};
    let begun = 0;
    const handler = (): Promise<void> => {
      begun++;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const patient = bus.consume(reports, handler);
    await bus.send(reports, "a");
    await until(() => begun === 1);
    const stopped = patient.stop(30_000);
    release();
    expect(await stopped).toEqual({ abandoned: 0 });
    expect(await fleet.admin.llen("{jobferry-c1}:reports:active")).toBe(0);

    const hasty = bus.consume(reports, handler);
    await bus.send(reports, "b");
    await until(() => begun === 2);
    expect(await hasty.stop(50)).toEqual({ abandoned: 1 });
    expect(await fleet.admin.llen("{jobferry-c1}:reports:active")).toBe(1);
  });

  it("a closed bus sends nothing", async () => {
    const { bus } = await fleet.manager();
    await bus.close(100);
    await expect(bus.send(reports, "a")).rejects.toMatchObject({ code: "transport/closed" });
  });
});
