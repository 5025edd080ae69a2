import { events } from "@jobferry/shared/kube/resources.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { SandboxCluster } from "../cluster.ts";

it("forgets events an hour after they were last seen", async () => {
  const clock = new VirtualClock();
  const cluster = new SandboxCluster({ clock, seed: 1 });
  await cluster.start();
  const record = (name: string) =>
    cluster.api.create(events, "default", { metadata: { name }, involvedObject: { namespace: "default" } });
  const names = async () => (await cluster.api.list(events)).items.map(({ metadata }) => metadata.name);
  await record("once");
  await record("again");
  await clock.advance(1_800_000);
  const seen = { type: "merge" as const, body: { lastTimestamp: timestamp(clock.now()) } };
  await cluster.api.patch(events, { namespace: "default", name: "again" }, seen);
  await clock.advance(1_799_000);
  expect(await names()).toEqual(["again", "once"]);
  await clock.advance(301_000);
  expect(await names()).toEqual(["again"]);
  await clock.advance(2_100_000);
  expect(await names()).toEqual([]);
  await cluster.stop();
});
