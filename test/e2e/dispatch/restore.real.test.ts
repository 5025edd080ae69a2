/** The hub's etcd is put back to a backup, on a real control plane, while its Jobs run on. */
import { jobs, leases } from "@jobferry/shared/kube/resources.ts";
import { EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ControlPlane } from "../../harness/control-plane.ts";
import { forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet({ workers: ["east"], agentFlags: ["--retention-seconds", "120"] });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

/** Of a hub that runs here as processes; a container has none. */
function controlPlane(): ControlPlane | undefined {
  return "controlPlane" in fleet.hub ? (fleet.hub.controlPlane as ControlPlane) : undefined;
}

it.each([
  ["with the revision of the backup", 0],
  ["with a revision beyond all that were seen", 3_000],
])("B hub etcd restored from an older backup, %s", { timeout: 300_000 }, async (title, bump) => {
  const hub = controlPlane();
  if (hub === undefined) throw new Error("this test needs a control plane of local processes");
  const at = await fleet.namespace(bump === 0 ? "restored" : "bumped");
  const created = await at.countPods();
  const before = ["runs", "ends", "deleted"];
  for (const name of before) await at.submit(name, { pod: forever });
  for (const name of before) await at.untilActive(name, 1);
  await hub.backUpEtcd();

  await at.end("ends", 0);
  await at.untilFinished("ends");
  await at.submit("later", { pod: forever });
  await at.untilActive("later", 1);
  await fleet.kill("manager");
  await hub.restoreEtcd(bump);
  expect((await at.job("ends"))?.status?.succeeded ?? 0, title).toBe(0);
  expect(await at.job("later")).toBeUndefined();
  // Its successor would wait until the Lease of the dead one has run out.
  await fleet.hub.api.delete(leases, { namespace: "jobferry-system", name: "jobferry-manager" });
  fleet.startManager();

  // Finished work is reported again and not run again; what the backup does not know goes.
  expect((await at.untilFinished("ends")).status).toMatchObject({ succeeded: 1 });
  await at.until(
    "the mirror of the forgotten Job is gone",
    async () => (await at.mirrorOn("east", "later")) === undefined,
  );
  await at.submit("later");
  expect((await at.untilFinished("later")).status).toMatchObject({ succeeded: 1 });
  await fleet.hub.api.delete(jobs, { namespace: at.name, name: "deleted" }, { propagationPolicy: "Background" });
  await at.until("the deleted Job is gone", async () => (await at.job("deleted")) === undefined);
  expect(await at.mirrorOn("east", "deleted")).toBeUndefined();
  await at.end("runs", 0);
  expect((await at.untilFinished("runs")).status).toMatchObject({ succeeded: 1 });
  for (const name of before) expect(await created(name), name).toBe(1);
  expect((await at.job("runs"))?.metadata.annotations?.[EPOCH]).toBe("1");
});
