import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isInvalid, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { describe, expect, it } from "vitest";
import { SandboxCluster } from "../cluster.ts";

const definitions: Resource<KubeObject & { spec: object }> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const boxes: Resource<KubeObject & { spec?: object }> = {
  group: "ex.org",
  version: "v1",
  plural: "boxes",
  kind: "Box",
  namespaced: true,
};
const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
const definition = (versions: object[] = [{ name: "v1", served: true, storage: true, schema }]) => ({
  metadata: { name: "boxes.ex.org" },
  spec: { group: "ex.org", scope: "Namespaced", names: { plural: "boxes", kind: "Box" }, versions },
});

describe("a custom resource definition", () => {
  it("serves its objects for as long as it is there", async () => {
    const { api } = new SandboxCluster({ seed: 1 });
    await expect(api.list(boxes)).rejects.toSatisfy(isNotFound);
    await api.create(definitions, undefined, definition());
    await api.create(boxes, "default", { metadata: { name: "a" } });
    expect((await api.list(boxes)).items).toHaveLength(1);
    await api.delete(definitions, { name: "boxes.ex.org" });
    await expect(api.list(boxes)).rejects.toSatisfy(isNotFound);
    await api.create(definitions, undefined, definition());
    expect((await api.list(boxes)).items).toEqual([]);
  });

  it.each([
    ["another name", { ...definition(), metadata: { name: "x" } }],
    ["no version", definition([])],
    ["no schema", definition([{ name: "v1", served: true, storage: true }])],
    [
      "two served versions",
      definition([
        { name: "v1", served: true, storage: true, schema },
        { name: "v2", served: true, storage: false, schema },
      ]),
    ],
    [
      "a rule that cannot be carried out",
      definition([
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-validations": [{ rule: "self.all(x, true)" }] } },
        },
      ]),
    ],
  ])("is refused with %s", async (_, body) => {
    const { api } = new SandboxCluster({ seed: 1 });
    await expect(api.create(definitions, undefined, body)).rejects.toSatisfy(isInvalid);
  });

  it("insists on the version that a replacement replaces", async () => {
    const { api } = new SandboxCluster({ seed: 1 });
    await api.create(definitions, undefined, definition());
    await api.create(boxes, "default", { metadata: { name: "a" } });
    const blind = api.replace(boxes, { namespace: "default", name: "a" }, { metadata: { name: "a" }, spec: {} });
    await expect(blind).rejects.toMatchObject({ code: 422, message: expect.stringContaining("must be specified") });
  });
});
