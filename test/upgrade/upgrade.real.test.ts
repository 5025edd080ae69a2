/** From the kept version to this one, in the order that docs/protocol.md asks for, and back, under Jobs that run. */

import { leases } from "@jobferry/shared/kube/resources.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser } from "@jobferry/shared/queue/acl.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FleetNamespace, forever } from "../e2e/dispatch/fleet-namespace.ts";
import { type Build, thisBuild } from "../e2e/dispatch/fleet-programs.ts";
import { RealFleet } from "../e2e/dispatch/real-fleet.ts";
import { keptBuild } from "./kept-build.ts";

const kept = await keptBuild();
// The kept manager loads no scripts for its agents: with it they send their own.
const OLD_RULES = ["+eval", "+multi", "+exec"];
const NEW_RULES = ["-eval", "-multi", "-exec"];
const fleet = new RealFleet({ build: kept, agentRules: OLD_RULES });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

async function replaceManager(build: Build): Promise<void> {
  await fleet.process("manager").stop(10_000);
  fleet.use(build);
  // Given back on SIGTERM; a kept version that did not would be waited for.
  await fleet.hub.api.delete(leases, { namespace: "jobferry-system", name: "jobferry-manager" }).catch(() => {});
  fleet.startManager();
}

async function replaceAgents(build: Build): Promise<void> {
  fleet.use(build);
  for (const name of fleet.workers.keys()) {
    await fleet.process(name).stop(10_000);
    fleet.startAgent(name);
  }
}

const clusters = ["east", "west"];

async function ruleAgents(...rules: string[]): Promise<void> {
  for (const name of clusters) await fleet.redis.call("ACL", "SETUSER", clusterUser(parseClusterName(name)), ...rules);
}

const on = (cluster: string) => ({ annotations: { "jobferry.dev/cluster-selector": `name=${cluster}` } });

/** One Job on each cluster that runs through, and one that is edited, suspended or moved later. */
async function begun(at: FleetNamespace, prefix: string): Promise<string[]> {
  const names = clusters.map((cluster) => `${prefix}-${cluster}`);
  for (const cluster of clusters) await at.submit(`${prefix}-${cluster}`, { ...on(cluster), pod: forever });
  for (const name of names) await at.untilActive(name, 1);
  return names;
}

/** Every kind of word between the two: a new Job, a longer one, one that is stopped. */
async function exchange(at: FleetNamespace, prefix: string): Promise<void> {
  for (const cluster of clusters) {
    const name = `${prefix}-short-${cluster}`;
    await at.submit(name, on(cluster));
    expect((await at.untilFinished(name)).status?.succeeded).toBe(1);
    const stopped = `${prefix}-stopped-${cluster}`;
    await at.submit(stopped, { ...on(cluster), pod: forever });
    await at.untilActive(stopped, 1);
    await at.edit(stopped, { spec: { suspend: true } });
    await at.until(`${stopped} has stopped`, async () => (await at.pods(stopped)).length === 0);
    await at.delete(stopped);
    await at.untilNothingIsLeft(stopped);
  }
}

it("Jobs run through an upgrade, manager first, and through the way back, and none of their pods is replaced", async () => {
  const at = await fleet.namespace("upgrade");
  const created = await at.countPods();
  const names = await begun(at, "old");
  await replaceManager(thisBuild);
  await exchange(at, "manager-first");
  // Earlier than CHANGELOG.md asks for: also agents that do not know the new rules get on with them.
  await ruleAgents(...NEW_RULES);
  await replaceAgents(kept);
  await exchange(at, "old-agents-new-rules");
  names.push(...(await begun(at, "between")));
  await replaceAgents(thisBuild);
  await exchange(at, "all-new");
  names.push(...(await begun(at, "new")));
  // A version that turns out bad is taken back the other way round.
  await replaceAgents(kept);
  await exchange(at, "agents-back");
  await ruleAgents(...OLD_RULES);
  await replaceManager(kept);
  await exchange(at, "all-back");
  for (const name of names) {
    await at.end(name, 0);
    expect((await at.untilFinished(name)).status).toMatchObject({ succeeded: 1 });
  }
  for (const name of names) await at.untilNothingIsLeft(name);
  for (const name of names) expect(await created(name), name).toBe(1);
});
