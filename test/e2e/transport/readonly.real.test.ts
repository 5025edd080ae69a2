/** A managed Redis that fails over behind one name, and cuts no connection: the old master is a replica from then on. */
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { FlakyProxy } from "../../harness/flaky-proxy.ts";
import { startRedis } from "../../harness/redis.ts";
import { until } from "./fleet.ts";

it("a sender whose server became a replica reconnects, and reaches the new master", async () => {
  const [before, after] = [await startRedis(), await startRedis()];
  const proxy = await FlakyProxy.to(before.url);
  const admin = new Redis(before.url);
  const url = proxy.url.replace(/^https/, "redis");
  const bus = new RedisBus({ config: { url }, clock: realClock, logger: silentLogger });
  onTestFinished(async () => {
    await bus.close(1_000);
    admin.disconnect();
    await Promise.all([proxy.close(), before.stop(), after.stop()]);
  });
  await bus.start(10_000);
  const box = { cluster: parseClusterName("east"), box: "deliveries" } as const;
  await bus.send(box, "to the old master");

  proxy.redirect(after.url);
  await admin.replicaof("127.0.0.1", new URL(after.url).port);
  await expect(bus.send(box, "refused")).rejects.toThrow(/READONLY/);
  await until(() =>
    bus.send(box, "to the new master").then(
      () => true,
      () => false,
    ),
  );
  const reader = new Redis(after.url);
  onTestFinished(() => reader.disconnect());
  await until(async () => (await reader.keys("*deliveries*")).length > 0);
});
