/** The hub's etcd is put back to a backup, on a real control plane, while its Jobs run on. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { jobs, leases } from "@jobferry/shared/kube/resources.ts";
import { EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ControlPlane } from "../../harness/control-plane.ts";
import { forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet({ workers: ["east"], agentFlags: ["--retention-seconds", "120"] });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

/** Of a cluster that runs here as processes; a container has none. */
function controlPlane(cluster: object = fleet.hub): ControlPlane {
  if (!("controlPlane" in cluster)) throw new Error("this test needs a control plane of local processes");
  return cluster.controlPlane as ControlPlane;
}

const BUMPS: [string, number][] = [
  ["with the revision of the backup", 0],
  ["with a revision beyond all that were seen", 3_000],
];

it.each(BUMPS)("B hub etcd restored from an older backup, %s", { timeout: 300_000 }, async (title, bump) => {
  const hub = controlPlane();
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

it.each(BUMPS)("B worker etcd restored from an older backup, %s", { timeout: 300_000 }, async (title, bump) => {
  const east = controlPlane(fleet.worker("east"));
  const at = await fleet.namespace(bump === 0 ? "worker-restored" : "worker-bumped");
  const indexed = { completionMode: "Indexed", completions: 2, parallelism: 2 } as const;
  const before = ["runs", "ends", "deleted"];
  for (const name of before) await at.submit(name, { spec: indexed, pod: forever });
  for (const name of before) await at.untilActive(name, 2);
  await east.backUpEtcd();

  for (const index of [0, 1]) await at.end("ends", 0, index);
  await at.untilFinished("ends");
  await at.end("runs", 0, 0);
  await at.until("its first index is done", async () => (await at.job("runs"))?.status?.succeeded === 1);
  await at.delete("deleted");
  await at.untilGone("deleted");
  await at.submit("later", { pod: forever });
  await at.untilActive("later", 1);
  await fleet.kill("east");
  await east.restoreEtcd(bump);
  expect((await at.mirrorOn("east", "ends"))?.status?.succeeded ?? 0, title).toBe(0);
  expect(await at.mirrorOn("east", "later")).toBeUndefined();
  const seen = (await at.pods("ends")).map(({ pod }) => pod.metadata.uid).sort();
  // Its successor would wait until the Lease of the dead one has run out.
  await fleet.worker("east").api.delete(leases, { namespace: "jobferry-system", name: "jobferry-agent" });
  fleet.startAgent("east");

  // Mirrors of Jobs that are over get no pod, and go; one that says that it is finished stays for a while.
  for (const name of ["ends", "deleted"])
    await at.until(`the mirror of ${name} is over`, async () => {
      const mirror = await at.mirrorOn("east", name);
      return mirror === undefined || isFinished(mirror);
    });
  const others = (await at.pods("ends")).filter(({ pod }) => !seen.includes(pod.metadata.uid));
  expect(others).toEqual([]);
  // What the backup does not know is made anew.
  await at.until("the later Job is there again", async () => (await at.mirrorOn("east", "later")) !== undefined);
  await at.end("later", 0);
  expect((await at.untilFinished("later")).status).toMatchObject({ succeeded: 1 });
  // What the hub knows to be done is not taken back, and the Job ends.
  expect((await at.job("runs"))?.status?.succeeded).toBe(1);
  for (const index of [0, 1]) await at.end("runs", 0, index);
  expect((await at.untilFinished("runs")).status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
});
