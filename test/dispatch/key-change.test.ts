/** The keys of manager and agents are changed, step by step as docs/keys.md says, while Jobs come and run. */
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { generateKeyPair, type OwnKeys, type PeerKeys } from "@jobferry/shared/protocol/keys.ts";
import { EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

const next = generateKeyPair();
const onEast = { annotations: { "jobferry.dev/cluster-selector": "name=east" } };
let fleet: Fleet;
let steps: number;

beforeEach(async () => {
  steps = 0;
  const runMs = (name: string): number => (name.startsWith("long") ? 600_000 : 2_000);
  fleet = await new Fleet({ behaviour: ({ metadata }) => ({ runMs: runMs(metadata.name ?? "") }) }).start();
  await fleet.submit("long", {}, onEast);
  await fleet.until(async () => (await fleet.job("long"))?.status?.active === 1);
});
afterEach(() => fleet.stop());

/** A Job that comes right after the step completes, and another one a while later. */
async function after(step: Promise<unknown>): Promise<void> {
  await step;
  for (const waitMs of [0, 40_000]) {
    await fleet.clock.advance(waitMs);
    const name = `step-${++steps}`;
    await fleet.submit(name, {}, onEast);
    expect((await fleet.untilFinished(name)).status?.succeeded).toBe(1);
  }
}

async function expectNoGap(): Promise<void> {
  const long = await fleet.untilFinished("long", 900_000);
  expect(long.status?.succeeded).toBe(1);
  expect(long.metadata.annotations?.[EPOCH]).toBe("1");
  expect(fleet.bus.quarantine).toEqual([]);
}

it("the manager's, without a message lost", async () => {
  const old = fleet.managerKeys;
  const agents = async (...managerKeys: PeerKeys): Promise<void> => {
    for (const name of fleet.workers.keys()) {
      await fleet.stopAgent(name);
      fleet.startAgent(name, { managerKeys });
    }
  };
  const manager = async (...keys: OwnKeys): Promise<void> => {
    await fleet.stopManager();
    fleet.startManager(keys);
  };
  await after(agents(old.publicKey, next.publicKey));
  await after(manager(next, old));
  await after(agents(next.publicKey));
  await after(manager(next));
  await expectNoGap();
});

it("an agent's, without a message lost", async () => {
  const old = fleet.workers.get("east")?.keys ?? next;
  const cluster = (spec: object) =>
    fleet.hub.api.patch(workerClusters, { name: "east" }, { type: "merge", body: { spec } });
  const agent = async (...keys: OwnKeys): Promise<void> => {
    await fleet.stopAgent("east");
    fleet.startAgent("east", { keys });
  };
  await after(cluster({ nextPublicKey: next.publicKey.text }));
  await after(agent(next, old));
  await after(cluster({ publicKey: next.publicKey.text, nextPublicKey: null }));
  await after(agent(next));
  await expectNoGap();
});
