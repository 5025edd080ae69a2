/** Warnings about pods on their way to the hub, on a simulated fleet. */
import { events, pods } from "@jobferry/shared/kube/resources.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
async function start(): Promise<void> {
  fleet = await new Fleet({ workers: ["only"], behaviour: () => ({ runMs: 3_600_000 }) }).start();
  await fleet.submit("j", { parallelism: 3, completions: 3 });
  await fleet.until(async () => (await fleet.job("j"))?.status?.active === 3);
}
afterEach(() => fleet.stop());

/** As a kubelet says it of every pod of the Job. */
async function warn(reason: string, message: (pod: string) => string): Promise<void> {
  const api = fleet.workers.get("only")?.cluster.api;
  for (const { metadata } of (await api?.list(pods, { namespace: "default" }))?.items ?? []) {
    const { name = "", uid = "" } = metadata;
    await api?.create(events, "default", {
      metadata: { generateName: `${name}.` },
      involvedObject: { kind: "Pod", namespace: "default", name, uid },
      ...{ type: "Warning", reason, message: message(name), count: 2 },
    });
  }
}

async function told() {
  const { items } = await fleet.hub.api.list(events, { namespace: "default" });
  return items.filter(({ type }) => type === "Warning").map(({ reason, count }) => ({ reason, count }));
}

it("the same of all pods of a Job is one event, and its count tells how often", async () => {
  await start();
  await warn("BackOff", (pod) => `Back-off restarting failed container main in pod ${pod}`);
  await warn("FailedMount", () => "no such volume");
  await fleet.clock.advance(2_000);
  expect(await told()).toEqual([
    { reason: "BackOff", count: 6 },
    { reason: "FailedMount", count: 6 },
  ]);
});

it("what goes on is told once a minute", async () => {
  await start();
  for (let i = 0; i < 10; i++) {
    await warn("BackOff", () => "Back-off");
    await fleet.clock.advance(2_000);
  }
  expect(await told()).toEqual([{ reason: "BackOff", count: 6 }]);
  await fleet.clock.advance(60_000);
  expect(await told()).toEqual([{ reason: "BackOff", count: 60 }]);
});
