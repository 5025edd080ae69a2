import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, WriteOptions } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { generateMirrorKey, Proofs, parseMirrorKeys } from "../proofs.ts";
import { Arrival } from "./arrival.ts";
import { Departure } from "./departure.ts";
import type { MirrorOptions } from "./mirror-spec.ts";

const delivery: RunDelivery = {
  kind: "assignment",
  uid: hubUid.parse("u1"),
  epoch: epoch.parse(1),
  generation: 1,
  revision: 7,
  namespace: "team",
  name: "pi",
  desired: "run",
  job: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } } } },
};

/** A cluster that may drop `managedBy`, and what it was asked to do. */
function aCluster(controller: MirrorOptions["controller"] = "agent") {
  const calls: string[] = [];
  const cluster = { dropsManagedBy: false, stored: undefined as Job | undefined, calls };
  const api = {
    async create(_: unknown, __: unknown, { metadata, spec }: Job, { dryRun = false }: WriteOptions = {}) {
      calls.push(dryRun ? "try" : "create");
      if (cluster.stored !== undefined) throw new ApiError(409, "AlreadyExists", "");
      const { managedBy: _managedBy, ...rest } = spec;
      const job: Job = { metadata: { ...metadata, uid: "m1" }, spec: cluster.dropsManagedBy ? rest : spec };
      if (!dryRun) cluster.stored = job;
      return job;
    },
    async get() {
      return cluster.stored;
    },
    async delete() {
      calls.push("delete");
    },
  } as unknown as KubeApi;
  const options = {
    api,
    controller,
    copies: { lacking: async () => ({ lacking: [], without: [] }), fetch: () => {}, isAwaited: () => false },
    mapNamespace: (namespace: string) => namespace,
    acceptance: { refusal: async () => undefined },
    proofs: new Proofs(parseMirrorKeys(generateMirrorKey())),
  };
  const departure = new Departure({ api, clock: new VirtualClock(), retentionMs: 0 });
  const arrival = new Arrival(options, departure);
  const create = async (delivery: RunDelivery): Promise<void> => {
    const arrived = await arrival.create(delivery, () => false);
    if (arrived.is === "refused") calls.push(arrived.refusal.reason);
  };
  return { arrival, create, cluster };
}

it("tries once whether managedBy is stored, and creates then", async () => {
  const { create, cluster } = aCluster();
  for (let i = 0; i < 2; i++) {
    cluster.stored = undefined;
    await create(delivery);
  }
  expect(cluster.calls).toEqual(["try", "create", "create"]);
});

it("refuses spec.scheduling, which only the cluster's own controller may know", async () => {
  const { job } = delivery;
  const gang = { ...delivery, job: { ...job, spec: { ...job.spec, scheduling: { policy: "Gang" } } } };
  const ours = aCluster();
  await ours.create(gang);
  expect(ours.cluster.calls).toEqual(["SchedulingUnsupported"]);
  const builtin = aCluster("builtin");
  await builtin.create(gang);
  expect(builtin.cluster.calls).toEqual(["create"]);
});

it("creates nothing where managedBy is dropped, and looks again the next time", async () => {
  const { create, cluster } = aCluster();
  cluster.dropsManagedBy = true;
  await create(delivery);
  await create(delivery);
  expect(cluster.calls).toEqual(["try", "ManagedByUnsupported", "try", "ManagedByUnsupported"]);
  expect(cluster.stored).toBeUndefined();
  cluster.dropsManagedBy = false;
  await create(delivery);
  expect(cluster.calls.slice(4)).toEqual(["try", "create"]);
});

it("leaves the mirror to the cluster's own controller when the server was changed since, and refuses the next", async () => {
  const { create, cluster } = aCluster();
  await create(delivery);
  Object.assign(cluster, { dropsManagedBy: true, stored: undefined });
  await create(delivery);
  expect(cluster.stored).toBeDefined();
  cluster.stored = undefined;
  await create(delivery);
  expect(cluster.calls).toEqual(["try", "create", "create", "try", "ManagedByUnsupported"]);
});

it("but not one that goes on from an earlier epoch: that is refused, once what was started is gone", async () => {
  const { arrival, create, cluster } = aCluster();
  const moved = { ...delivery, carry: { startTime: "2026-01-01T00:00:00Z", succeeded: 1, completedIndexes: "0" } };
  await create(delivery);
  Object.assign(cluster, { dropsManagedBy: true, stored: undefined });
  await expect(create(moved)).rejects.toThrow(/waiting for a mirror without managedBy to leave team\/pi/);
  // Whatever of it the watch has shown by now.
  await expect(arrival.follow(cluster.stored as Job, moved)).rejects.toThrow(/waiting/);
  await expect(create(moved)).rejects.toThrow(/waiting/);
  expect(cluster.calls).toEqual(["try", "create", "create", "delete", "delete", "try", "delete"]);
  cluster.stored = undefined;
  await create(moved);
  expect(cluster.calls.slice(7)).toEqual(["try", "ManagedByUnsupported"]);
});

it("needs no managedBy where the cluster's own Job controller runs the mirrors", async () => {
  const { create, cluster } = aCluster("builtin");
  cluster.dropsManagedBy = true;
  await create(delivery);
  expect(cluster.calls).toEqual(["create"]);
});
