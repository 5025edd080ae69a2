import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { type ApiError, isConflict, isInvalid, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import type { Subject } from "../subject.ts";

interface Definition extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}
const definitions: Resource<Definition> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

interface JobQueue extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}
const jobQueues: Resource<JobQueue> = {
  group: "jobferry.dev",
  version: "v1alpha1",
  plural: "jobqueues",
  kind: "JobQueue",
  namespaced: false,
};

const deploy = join(import.meta.dirname, "../../../deploy/crds");

export function customResources(subject: Subject): void {
  const queue = (name: string, spec: Record<string, unknown> = {}) => ({
    apiVersion: "jobferry.dev/v1alpha1",
    kind: "JobQueue",
    metadata: { name },
    spec,
  });

  describe("custom resources", () => {
    beforeAll(async () => {
      for (const file of ["jobqueues.yaml", "workerclusters.yaml"]) {
        const definition = parse(await readFile(join(deploy, file), "utf8")) as Definition;
        await subject.api.create(definitions, undefined, definition);
        const name = definition.metadata.name ?? "";
        await vi.waitUntil(async () => {
          const { status } = await subject.api.get(definitions, { name });
          return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
        });
      }
      // A real server publishes the new path a moment after it says so.
      await vi.waitUntil(
        () =>
          subject.api.list(jobQueues).then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      );
    });

    it("get the defaults of their schema and lose what it does not know", async () => {
      const created = await subject.api.create(jobQueues, undefined, queue("plain", { unknown: 1 }));
      expect(created.spec).toMatchObject({
        weight: 1,
        placement: "Spread",
        onClusterLost: "Redispatch",
        paused: false,
      });
      expect(created.spec).not.toHaveProperty("unknown");
      expect(created.metadata).toMatchObject({ name: "plain", generation: 1 });
    });

    it("are checked against their schema, all faults at once", async () => {
      const bad = queue("bad", { weight: 0, placement: "Anywhere", paused: "yes" });
      const error = await subject.api.create(jobQueues, undefined, bad).catch((reason: unknown) => reason);
      expect(error).toSatisfy(isInvalid);
      const { status } = error as ApiError;
      expect(status?.details).toMatchObject({ name: "bad", group: "jobferry.dev", kind: "JobQueue" });
      // A real API server walks the properties in no fixed order.
      const causes = status?.details?.causes?.toSorted((one, other) =>
        (one.field ?? "").localeCompare(other.field ?? ""),
      );
      expect(causes).toEqual([
        {
          reason: "FieldValueInvalid",
          message:
            "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
          field: "<nil>",
        },
        {
          reason: "FieldValueTypeInvalid",
          message: 'Invalid value: "string": spec.paused in body must be of type boolean: "string"',
          field: "spec.paused",
        },
        {
          reason: "FieldValueNotSupported",
          message: 'Unsupported value: "Anywhere": supported values: "Spread", "Pack", "Ordered"',
          field: "spec.placement",
        },
        {
          reason: "FieldValueInvalid",
          message: "Invalid value: 0: spec.weight in body should be greater than or equal to 1",
          field: "spec.weight",
        },
      ]);
    });

    it("keep spec and status apart, and count generations of the spec", async () => {
      const created = await subject.api.create(jobQueues, undefined, { ...queue("apart"), status: { pending: 5 } });
      expect(created.status).toBeUndefined();
      const key = { name: "apart" };
      const both = { type: "merge" as const, body: { spec: { weight: 7 }, status: { pending: 2, running: 1 } } };
      const reported = await subject.api.patch(jobQueues, key, both, { subresource: "status" });
      expect(reported).toMatchObject({ metadata: { generation: 1 }, spec: { weight: 1 }, status: { pending: 2 } });
      const changed = await subject.api.patch(jobQueues, key, both);
      expect(changed).toMatchObject({ metadata: { generation: 2 }, spec: { weight: 7 }, status: { pending: 2 } });
      await expect(subject.api.replace(jobQueues, key, created)).rejects.toSatisfy(isConflict);
    });

    it("take merge and json patches, but no strategic ones", async () => {
      await subject.api.create(jobQueues, undefined, queue("patched"));
      const key = { name: "patched" };
      const json = [{ op: "replace", path: "/spec/weight", value: 9 }];
      expect((await subject.api.patch(jobQueues, key, { type: "json", body: json })).spec).toMatchObject({ weight: 9 });
      const strategic = subject.api.patch(jobQueues, key, { type: "strategic", body: { spec: { weight: 3 } } });
      await expect(strategic).rejects.toMatchObject({ code: 415 });
    });

    it("can be watched and deleted", async () => {
      const { resourceVersion } = (await subject.api.list(jobQueues)).metadata;
      await subject.api.create(jobQueues, undefined, queue("watched"));
      await subject.api.delete(jobQueues, { name: "watched" });
      await expect(subject.api.get(jobQueues, { name: "watched" })).rejects.toSatisfy(isNotFound);
      const seen: string[] = [];
      const signal = AbortSignal.timeout(15_000);
      for await (const batch of subject.api.watch(jobQueues, { resourceVersion, signal })) {
        for (const event of batch) seen.push(event.type);
        if (seen.length >= 2) break;
      }
      expect(seen).toEqual(["ADDED", "DELETED"]);
    });

    if (subject.speaksHttp)
      it("show the columns they define", async () => {
        const { json } = await subject.cluster.request("/apis/jobferry.dev/v1alpha1/jobqueues/plain", {
          headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
        });
        const table = json as { columnDefinitions: { name: string; priority: number }[]; rows: { cells: unknown[] }[] };
        expect(table.columnDefinitions.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
          "Name 0",
          "Pending 0",
          "Running 0",
          "Share 0",
          "CPU 1",
          "Paused 0",
          "Placement 0",
          "Weight 1",
          "Age 0",
        ]);
        expect(table.rows[0]?.cells.slice(0, 8)).toEqual(["plain", null, null, null, null, false, "Spread", 1]);
      });

    if (subject.speaksHttp)
      it("appear in discovery", async () => {
        const { json } = await subject.cluster.request("/apis/jobferry.dev/v1alpha1");
        const { resources } = json as { resources: { name: string; kind: string; shortNames?: string[] }[] };
        const listed = resources.map(({ name, kind, shortNames = [] }) => `${name} ${kind} ${shortNames}`);
        expect(listed.sort()).toEqual([
          "jobqueues JobQueue jq",
          "jobqueues/status JobQueue ",
          "workerclusters WorkerCluster wc",
          "workerclusters/status WorkerCluster ",
        ]);
      });
  });
}
