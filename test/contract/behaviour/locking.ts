import { type ApiError, isAlreadyExists, isConflict, isInvalid, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { configMap, job } from "../objects.ts";
import { configMapResource as maps } from "../resources.ts";
import type { Subject } from "../subject.ts";

export function identitiesAndLocking(subject: Subject): void {
  describe("identities and locking", () => {
    let namespace: string;
    beforeAll(async () => {
      namespace = await subject.newNamespace();
    });
    const key = (name: string) => ({ namespace, name });

    it("fills in what only the server knows", async () => {
      const before = Math.floor(Date.now() / 1000) * 1000;
      const { metadata } = await subject.api.create(maps, namespace, configMap("filled"));
      expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(metadata.resourceVersion).toMatch(/^\d+$/);
      expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(Date.parse(metadata.creationTimestamp ?? "")).toBeGreaterThanOrEqual(before);
      expect(await subject.api.get(maps, key("filled"))).toMatchObject({ metadata: { uid: metadata.uid } });
    });

    it("gives a new identity to a second object of one name", async () => {
      const first = await subject.api.create(maps, namespace, configMap("again"));
      await expect(subject.api.create(maps, namespace, configMap("again"))).rejects.toSatisfy(isAlreadyExists);
      await subject.api.delete(maps, key("again"));
      await expect(subject.api.get(maps, key("again"))).rejects.toSatisfy(isNotFound);
      const second = await subject.api.create(maps, namespace, configMap("again"));
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
      expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
    });

    it("makes names from a prefix", async () => {
      const create = (generateName: string) => subject.api.create(maps, namespace, { metadata: { generateName } });
      const names = await Promise.all(Array.from({ length: 10 }, async () => (await create("made-")).metadata.name));
      expect(new Set(names).size).toBe(10);
      for (const name of names) expect(name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      const { metadata } = await create("x".repeat(200));
      expect(metadata.name).toMatch(/^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    });

    it("refuses a replacement made from an old version, and takes one that names none", async () => {
      const first = await subject.api.create(maps, namespace, configMap("locked"));
      const second = await subject.api.replace(maps, key("locked"), { ...first, data: { turn: "2" } });
      await expect(subject.api.replace(maps, key("locked"), { ...first, data: { turn: "3" } })).rejects.toSatisfy(
        isConflict,
      );
      expect(await subject.api.get(maps, key("locked"))).toEqual(second);
      const third = await subject.api.replace(maps, key("locked"), configMap("locked", { turn: "4" }));
      expect(third.data).toEqual({ turn: "4" });
      expect(third.metadata.uid).toBe(first.metadata.uid);
    });

    it("refuses a patch that names an old version", async () => {
      const first = await subject.api.create(maps, namespace, configMap("patched"));
      const { resourceVersion } = first.metadata;
      const patch = (turn: string) =>
        subject.api.patch(maps, key("patched"), {
          type: "merge",
          body: { metadata: { resourceVersion }, data: { turn } },
        });
      await patch("1");
      await expect(patch("2")).rejects.toSatisfy(isConflict);
    });

    it("refuses a patch whose outcome does not fit the type", async () => {
      await subject.api.create(jobs, namespace, job("typed"));
      const wrong = { type: "merge" as const, body: { spec: { parallelism: "three" } } };
      const error = await subject.api.patch(jobs, key("typed"), wrong).catch((reason: unknown) => reason);
      expect(error).toSatisfy(isInvalid);
      expect((error as ApiError).status?.details?.causes).toMatchObject([
        { field: "patch", message: expect.stringMatching(/ of type int32$/) },
      ]);
    });

    it("does not count a write that changes nothing", async () => {
      const first = await subject.api.create(maps, namespace, configMap("same"));
      const replaced = await subject.api.replace(maps, key("same"), first);
      const patched = await subject.api.patch(maps, key("same"), { type: "merge", body: { data: first.data ?? {} } });
      expect([replaced.metadata.resourceVersion, patched.metadata.resourceVersion]).toEqual([
        first.metadata.resourceVersion,
        first.metadata.resourceVersion,
      ]);
    });

    it("loses none of many locked writes at once", async () => {
      await subject.api.create(maps, namespace, configMap("counter", { count: "0" }));
      const increment = async (): Promise<void> => {
        for (;;) {
          const current = await subject.api.get(maps, key("counter"));
          const next = { ...current, data: { count: String(Number(current.data?.count) + 1) } };
          const done = await subject.api.replace(maps, key("counter"), next).then(
            () => true,
            (error: unknown) => {
              if (!isConflict(error)) throw error;
              return false;
            },
          );
          if (done) return;
        }
      };
      await Promise.all(Array.from({ length: 8 }, increment));
      expect((await subject.api.get(maps, key("counter"))).data).toEqual({ count: "8" });
    });

    it("gives every client the same object in unlocked patches of different fields", async () => {
      await subject.api.create(maps, namespace, configMap("shared", {}));
      const fields = Array.from({ length: 8 }, (_, index) => `f${index}`);
      await Promise.all(
        fields.map((field) =>
          subject.api.patch(maps, key("shared"), { type: "merge", body: { data: { [field]: "set" } } }),
        ),
      );
      expect(Object.keys((await subject.api.get(maps, key("shared"))).data ?? {}).sort()).toEqual(fields);
    });

    it("merges owners by uid in strategic patches", async () => {
      const { metadata: first } = await subject.api.create(jobs, namespace, job("owner"));
      const { metadata: second } = await subject.api.create(maps, namespace, configMap("owner"));
      await subject.api.create(maps, namespace, configMap("owned"));
      const patch = async (reference: object): Promise<(string | undefined)[]> => {
        const body = { metadata: { ownerReferences: [reference] } };
        const owned = await subject.api.patch(maps, key("owned"), { type: "strategic", body });
        return (owned.metadata.ownerReferences ?? []).map(({ kind, uid }) => `${kind} ${uid}`);
      };
      const asJob = { apiVersion: "batch/v1", kind: "Job", name: "owner", uid: first.uid, controller: true };
      const asMap = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: second.uid };
      expect(await patch(asJob)).toEqual([`Job ${first.uid}`]);
      expect(await patch(asMap)).toEqual([`ConfigMap ${second.uid}`, `Job ${first.uid}`]);
      expect(await patch({ ...asJob, controller: false })).toEqual([`ConfigMap ${second.uid}`, `Job ${first.uid}`]);
      expect(await patch({ $patch: "delete", uid: first.uid })).toEqual([`ConfigMap ${second.uid}`]);
    });

    it("keeps spec and status apart, and counts generations of the spec", async () => {
      const created = await subject.api.create(jobs, namespace, job("apart", { suspend: true }));
      expect(created.metadata.generation).toBe(1);
      const status = { startTime: "2026-01-01T00:00:00Z", active: 1 };
      const reported = await subject.api.replace(
        jobs,
        key("apart"),
        { ...created, spec: { ...created.spec, parallelism: 9 } as typeof created.spec, status },
        { subresource: "status" },
      );
      expect(reported).toMatchObject({ metadata: { generation: 1 }, spec: { parallelism: 1 }, status });
      const resized = await subject.api.replace(jobs, key("apart"), {
        ...reported,
        spec: { ...reported.spec, parallelism: 4 } as typeof created.spec,
        status: { active: 7 },
      });
      expect(resized).toMatchObject({ metadata: { generation: 2 }, spec: { parallelism: 4 }, status });
    });

    it("does nothing for real in a dry run", async () => {
      const made = await subject.api.create(maps, namespace, configMap("dry"), { dryRun: true });
      expect(made.metadata.uid).toBeDefined();
      expect(made.metadata.resourceVersion ?? "").toBe("");
      await expect(subject.api.get(maps, key("dry"))).rejects.toSatisfy(isNotFound);
    });

    it("deletes only the object that was meant", async () => {
      const first = await subject.api.create(maps, namespace, configMap("meant"));
      const { uid, resourceVersion } = first.metadata;
      await subject.api.patch(maps, key("meant"), { type: "merge", body: { data: { changed: "yes" } } });
      const stale = { preconditions: { uid: uid ?? "", resourceVersion: resourceVersion ?? "" } };
      await expect(subject.api.delete(maps, key("meant"), stale)).rejects.toSatisfy(isConflict);
      await expect(subject.api.delete(maps, key("meant"), { preconditions: { uid: "other" } })).rejects.toSatisfy(
        isConflict,
      );
      expect(await subject.api.delete(maps, key("meant"), { preconditions: { uid: uid ?? "" } })).toBeUndefined();
    });
  });
}
