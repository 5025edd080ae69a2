/** Somebody has a copy of an agent's Secret, and speaks with it, on a simulated fleet. */
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const connected = async () =>
  (await fleet.hub.api.get(workerClusters, { name: "east" })).status?.conditions?.find(
    ({ type }) => type === "Connected",
  );

it("two agents with one Secret show on the WorkerCluster, and no more a while after one is gone", async () => {
  fleet = await new Fleet({ workers: ["east"] }).start();
  const first = fleet.workers.get("east")?.agent;
  expect(await connected()).toMatchObject({ status: "True", reason: "Heartbeats" });
  fleet.startAgent("east");
  await fleet.until(async () => (await connected())?.reason === "TwoAgents", 120_000);
  expect(await connected()).toMatchObject({ status: "True", message: expect.stringContaining("--renew") });
  await first?.stop();
  await fleet.until(async () => (await connected())?.reason === "Heartbeats", 15 * 60_000);
});

it("an agent that is started anew is one", async () => {
  fleet = await new Fleet({ workers: ["east"] }).start();
  for (let start = 0; start < 5; start++) {
    await fleet.stopAgent("east");
    fleet.startAgent("east");
    await fleet.clock.advance(15_000);
    expect((await connected())?.reason).toBe("Heartbeats");
  }
});
