/** A Job can always be stopped, however large its owner has made it since it was dispatched. */
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet | undefined;
afterEach(() => fleet?.stop());

const DAY_MS = 24 * 3_600_000;
const template = {
  spec: { restartPolicy: "Never" as const, containers: [{ name: "m", image: "b", args: ["y".repeat(60_000)] }] },
};
/** Six characters each in JSON: more than a message may have, and less than an API server takes. */
const CONTROL = "\u0001".repeat(261_500);
/** All that an API server takes of annotations, but for what stands there already. */
const ALL_ANNOTATIONS = 262_144;

async function aRunningJob(): Promise<Fleet> {
  fleet = await new Fleet({ behaviour: () => ({ runMs: DAY_MS, stopMs: 100 }) }).start();
  const annotations = { "jobferry.dev/cluster-selector": "name=east" };
  await fleet.submit("miner", { template, parallelism: 2, completions: 9 }, { annotations });
  await fleet.until(async () => (await fleet?.job("miner"))?.status?.active === 2);
  return fleet;
}

const grow = (there: Fleet, note: string) => there.edit("miner", { metadata: { annotations: { note } } });

async function fillUp(there: Fleet): Promise<void> {
  const annotations = (await there.job("miner"))?.metadata.annotations ?? {};
  const taken = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  await grow(there, "x".repeat(ALL_ANNOTATIONS - taken - "note".length));
}

it.each<[string, (there: Fleet) => Promise<void>]>([
  ["too large for a message", (there) => grow(there, CONTROL)],
  ["left without room for our annotations", fillUp],
])("%s, it is deleted", async (_, make) => {
  const there = await aRunningJob();
  await make(there);
  await there.clock.advance(3_000);
  await there.hub.api.delete(jobs, { namespace: "default", name: "miner" }, { propagationPolicy: "Background" });
  await there.until(async () => (await there.job("miner")) === undefined, 60_000);
  await there.until(async () => (await there.podsOn("east")) === 0, 60_000);
});

it("too large for a message, it is suspended, made smaller and resumed", async () => {
  const there = await aRunningJob();
  await grow(there, CONTROL);
  await there.clock.advance(3_000);
  await there.edit("miner", { spec: { suspend: true } });
  await there.until(async () => (await there.podsOn("east")) === 0, 60_000);
  await there.edit("miner", { spec: { suspend: false, parallelism: 1 } });
  await there.until(async () => (await there.podsOn("east")) === 1, 60_000);
  const [found] = await there.mirrors("miner");
  expect(found?.mirror.metadata.annotations?.note).toBeUndefined();
});

it("too large for a message, it is stopped by a drain", async () => {
  const there = await aRunningJob();
  await grow(there, CONTROL);
  await there.clock.advance(3_000);
  await there.hub.api.patch(workerClusters, { name: "east" }, { type: "merge", body: { spec: { drain: true } } });
  await there.until(async () => (await there.podsOn("east")) === 0, 60_000);
});
