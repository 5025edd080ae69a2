/** Prints what a hand-over costs: sealed by the manager, through Redis, opened by the agent. Asserts only that all arrive. */
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { assignment, type Fleet, startFleet, until } from "./fleet.ts";

const c1 = parseClusterName("c1");
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet(["c1"]);
});
afterAll(() => fleet.stop());

async function redisCpuMs(): Promise<number> {
  const info = await fleet.admin.info("cpu");
  const field = (name: string): number => Number(new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1] ?? 0);
  return 1000 * (field("used_cpu_user") + field("used_cpu_sys"));
}

it("one at a time, and in bursts", async () => {
  const manager = await fleet.manager();
  const agent = await fleet.agent("c1");
  let arrived = 0;
  let lastAt = 0;
  let tell = (): void => {};
  agent.transport.onDelivery(async () => {
    arrived++;
    lastAt = performance.now();
    tell();
  });

  const oneAtATime = async (count: number, bytes: number): Promise<string> => {
    const times: number[] = [];
    for (let number = 0; number < count; number++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      tell = resolve;
      const began = performance.now();
      await manager.transport.sendDelivery(c1, assignment(number, "x".repeat(bytes)));
      await promise;
      times.push(lastAt - began);
    }
    times.sort((a, b) => a - b);
    const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
    return `one at a time, ${bytes} bytes: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`;
  };

  await oneAtATime(200, 2000);
  const lines = [await oneAtATime(1000, 2000), await oneAtATime(300, 50_000)];
  const before = arrived;
  const burst = 3000;
  const redisCpu = await redisCpuMs();
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (let sent = 0; sent < burst; sent += 100) {
    const batch = Array.from({ length: 100 }, (_, offset) => assignment(sent + offset, "x".repeat(2000)));
    await Promise.all(batch.map((delivery) => manager.transport.sendDelivery(c1, delivery)));
  }
  await until(() => arrived - before === burst, 60_000);
  const seconds = (lastAt - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const perMessage = ((user + system) / 1000 / burst).toFixed(2);
  const perMessageRedis = (((await redisCpuMs()) - redisCpu) / burst).toFixed(2);
  lines.push(`CPU per message: ${perMessage} ms sender and receiver together, ${perMessageRedis} ms Redis`);
  lines.push(`burst of ${burst}: ${Math.round(burst / seconds)} messages/s, sender and receiver in one process`);
  console.log(lines.join("\n"));
  expect(arrived).toBe(200 + 1000 + 300 + burst);
});
