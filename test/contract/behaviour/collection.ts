import type { DeleteOptions, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { type ApiError, isForbidden, isNamespaceTerminating, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { configMap, job, pod } from "../objects.ts";
import { configMapResource as maps } from "../resources.ts";
import type { Subject } from "../subject.ts";

const patience = { timeout: 120_000, interval: 50 };
const hold = "ex.org/hold";

export function ownersAndNamespaces(subject: Subject): void {
  const exists = (resource: Resource, namespace: string | undefined, name: string): Promise<boolean> =>
    subject.api.get(resource, { ...(namespace === undefined ? {} : { namespace }), name }).then(
      () => true,
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
        return false;
      },
    );
  const gone = (resource: Resource, namespace: string | undefined, name: string): Promise<unknown> =>
    vi.waitUntil(async () => !(await exists(resource, namespace, name)), patience);

  describe("owned objects", () => {
    let namespace: string;
    let owner: KubeObject;
    beforeEach(async () => {
      namespace = await subject.newNamespace();
      owner = await subject.api.create(jobs, namespace, job("owner"));
    });
    const ownedBy = (object: KubeObject, blockOwnerDeletion = true) => ({
      apiVersion: object.apiVersion ?? "",
      kind: object.kind ?? "",
      name: object.metadata.name ?? "",
      uid: object.metadata.uid ?? "",
      controller: true,
      blockOwnerDeletion,
    });
    const addMap = (name: string, metadata: object) =>
      subject.api.create(maps, namespace, { ...configMap(name), metadata: { name, ...metadata } });
    const remove = (options: DeleteOptions) => subject.api.delete(jobs, { namespace, name: "owner" }, options);
    const release = (name: string) =>
      subject.api.patch(maps, { namespace, name }, { type: "merge", body: { metadata: { finalizers: null } } });

    it("go after their owner in the background, grandchildren too", async () => {
      const child = await subject.api.create(pods, namespace, pod("child", {}, { ownerReferences: [ownedBy(owner)] }));
      await addMap("grandchild", { ownerReferences: [{ ...ownedBy(child), apiVersion: "v1", kind: "Pod" }] });
      await addMap("stranger", {});
      expect(await remove({ propagationPolicy: "Background" })).toBeUndefined();
      expect(await exists(jobs, namespace, "owner")).toBe(false);
      await gone(pods, namespace, "child");
      await gone(maps, namespace, "grandchild");
      expect(await exists(maps, namespace, "stranger")).toBe(true);
    });

    it("go before their owner in the foreground", async () => {
      await addMap("blocking", { ownerReferences: [ownedBy(owner)], finalizers: [hold] });
      const marked = await remove({ propagationPolicy: "Foreground" });
      expect(marked?.metadata.finalizers).toEqual(["foregroundDeletion"]);
      await vi.waitUntil(
        async () => (await subject.api.get(maps, { namespace, name: "blocking" })).metadata.deletionTimestamp,
        patience,
      );
      expect(await exists(jobs, namespace, "owner")).toBe(true);
      await release("blocking");
      await gone(jobs, namespace, "owner");
      expect(await exists(maps, namespace, "blocking")).toBe(false);
    });

    it("do not hold up their owner if they say so", async () => {
      await addMap("patient", { ownerReferences: [ownedBy(owner, false)], finalizers: [hold] });
      await remove({ propagationPolicy: "Foreground" });
      await gone(jobs, namespace, "owner");
      expect(await exists(maps, namespace, "patient")).toBe(true);
      await release("patient");
      await gone(maps, namespace, "patient");
    });

    it("stay as orphans when their owner is deleted so", async () => {
      await addMap("orphan", { ownerReferences: [ownedBy(owner)] });
      await remove({ propagationPolicy: "Orphan" });
      await gone(jobs, namespace, "owner");
      const orphan = await subject.api.get(maps, { namespace, name: "orphan" });
      expect(orphan.metadata.ownerReferences ?? []).toEqual([]);
      expect(orphan.metadata.deletionTimestamp).toBeUndefined();
    });

    it("stay as orphans when a Job is deleted without saying how", async () => {
      await addMap("orphan", { ownerReferences: [ownedBy(owner)] });
      await remove({});
      await gone(jobs, namespace, "owner");
      expect((await subject.api.get(maps, { namespace, name: "orphan" })).metadata.ownerReferences ?? []).toEqual([]);
    });

    it("stay with the owner they have left", async () => {
      const second = await addMap("second", {});
      const other = { ...ownedBy(second), apiVersion: "v1", kind: "ConfigMap", controller: false };
      await addMap("shared", { ownerReferences: [ownedBy(owner), other] });
      await remove({ propagationPolicy: "Background" });
      const owners = async (): Promise<string[]> =>
        ((await subject.api.get(maps, { namespace, name: "shared" })).metadata.ownerReferences ?? []).map(
          (reference) => reference.name,
        );
      await vi.waitUntil(async () => (await owners()).join() === "second", patience);
      await subject.api.delete(maps, { namespace, name: "second" });
      await gone(maps, namespace, "shared");
    });

    it("go when the owner they name never was, or was another of that name", async () => {
      const wrong = { ...ownedBy(owner), uid: "11111111-1111-4111-8111-111111111111" };
      await addMap("lost", { ownerReferences: [wrong] });
      await gone(maps, namespace, "lost");
      expect(await exists(jobs, namespace, "owner")).toBe(true);
    });
  });

  describe("namespaces", () => {
    it("take their contents with them, and take in nothing new meanwhile", async () => {
      const namespace = await subject.newNamespace();
      await subject.api.create(jobs, namespace, job("one"));
      await subject.api.create(pods, namespace, pod("one"));
      await subject.api.create(maps, namespace, {
        ...configMap("held"),
        metadata: { name: "held", finalizers: [hold] },
      });
      const marked = await subject.api.delete(namespaces, { name: namespace });
      expect(marked).toMatchObject({ status: { phase: "Terminating" } });

      const refused = await subject.api.create(maps, namespace, configMap("new")).catch((error: unknown) => error);
      expect(refused).toSatisfy(isForbidden);
      expect(refused).toSatisfy(isNamespaceTerminating);
      expect((refused as ApiError).message).toBe(
        `configmaps "new" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      );

      await gone(jobs, namespace, "one");
      await gone(pods, namespace, "one");
      expect(await exists(namespaces, undefined, namespace)).toBe(true);
      const release = { type: "merge" as const, body: { metadata: { finalizers: null } } };
      await subject.api.patch(maps, { namespace, name: "held" }, release);
      await gone(namespaces, undefined, namespace);
    });

    it("can be made again under the same name", async () => {
      const namespace = await subject.newNamespace();
      await subject.api.create(maps, namespace, configMap("one"));
      await subject.api.delete(namespaces, { name: namespace });
      await gone(namespaces, undefined, namespace);
      await subject.createNamespace(namespace);
      expect((await subject.api.list(maps, { namespace })).items).toEqual([]);
    });
  });
}
