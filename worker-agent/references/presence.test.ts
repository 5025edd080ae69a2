import type { PodTemplate } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey, Resource } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { expect, it } from "vitest";
import { missingSentence, type Needed, nameOf, Presence } from "./presence.ts";

/** A cluster that has these, as `plural/name` or `plural/namespace/name`, and what it was asked for. */
function aCluster(has: readonly string[], answer: (path: string) => ApiError | undefined = () => undefined) {
  const asked: string[] = [];
  const get = async ({ plural }: Resource, { namespace, name }: ObjectKey) => {
    const path = [plural, ...(namespace === undefined ? [] : [namespace]), name].join("/");
    asked.push(path);
    const failure = answer(path);
    if (failure !== undefined) throw failure;
    if (has.includes(path)) return { metadata: { name } };
    throw notFound(name);
  };
  return { asked, presence: new Presence({ get } as unknown as KubeApi) };
}

const notFound = (name?: string): ApiError =>
  ApiError.fromStatus({
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404 },
    ...(name === undefined ? {} : { details: { name } }),
  });

const podTemplate = (spec: object): PodTemplate => ({ spec: { containers: [{ name: "main" }], ...spec } });
const claim = { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] };
const names = (missing: readonly Needed[]) => missing.map(nameOf);

it.each([
  ["a claim", claim, "PersistentVolumeClaim team/data"],
  ["a service account", { serviceAccountName: "robot" }, "ServiceAccount team/robot"],
  ["a priority class", { priorityClassName: "urgent" }, "PriorityClass urgent"],
  ["a runtime class", { runtimeClassName: "gvisor" }, "RuntimeClass gvisor"],
  ["a claim", { resourceClaims: [{ name: "g", resourceClaimName: "gpu" }] }, "ResourceClaim team/gpu"],
  [
    "a claim template",
    { resourceClaims: [{ name: "g", resourceClaimTemplateName: "gpu" }] },
    "ResourceClaimTemplate team/gpu",
  ],
  ["a ConfigMap", { volumes: [{ name: "v", configMap: { name: "c" } }] }, "ConfigMap team/c"],
  ["a Secret", { volumes: [{ name: "v", secret: { secretName: "s" } }] }, "Secret team/s"],
])("%s that is not there is named", async (_, spec, name) => {
  const { presence } = aCluster(["namespaces/team"]);
  expect(names(await presence.missingFor(podTemplate(spec), "team"))).toEqual([name]);
});

it("What is there is not missing, and is asked for once", async () => {
  const { presence, asked } = aCluster(["persistentvolumeclaims/team/data", "priorityclasses/urgent"]);
  expect(await presence.missingFor(podTemplate({ ...claim, priorityClassName: "urgent" }), "team")).toEqual([]);
  expect(asked.sort()).toEqual(["persistentvolumeclaims/team/data", "priorityclasses/urgent"]);
});

it.each([
  ["nothing", {}],
  ["the default service account", { serviceAccountName: "default" }],
  ["a class of every cluster", { priorityClassName: "system-node-critical" }],
  ["the ConfigMap of every namespace", { volumes: [{ name: "v", configMap: { name: "kube-root-ca.crt" } }] }],
  ["what is optional", { volumes: [{ name: "v", configMap: { name: "c", optional: true } }] }],
  ["credentials for images", { imagePullSecrets: [{ name: "login" }] }],
])("A template that needs %s costs no call", async (_, spec) => {
  const { presence, asked } = aCluster([]);
  expect(await presence.missingFor(podTemplate(spec), "team")).toEqual([]);
  expect(asked).toEqual([]);
});

it("What is brought along need not be there", async () => {
  const { presence, asked } = aCluster([]);
  const template = podTemplate({ volumes: [{ name: "v", configMap: { name: "c" } }] });
  expect(await presence.missingFor(template, "team", ({ kind, name }) => kind === "ConfigMap" && name === "c")).toEqual(
    [],
  );
  expect(asked).toEqual([]);
});

it("Without the namespace, the namespace is what is missing", async () => {
  const { presence } = aCluster([]);
  expect(names(await presence.missingFor(podTemplate(claim), "team"))).toEqual(["Namespace team"]);
});

it.each([
  ["this agent may not read", new ApiError(403, "Forbidden", "no")],
  ["the cluster does not serve", notFound()],
])("What %s is not said to be missing", async (_, failure) => {
  const { presence } = aCluster([], () => failure);
  expect(await presence.missingFor(podTemplate(claim), "team")).toEqual([]);
});

it("An API server that does not answer proves no absence", async () => {
  const { presence } = aCluster([], () => new ApiError(0, "Timeout", "no answer"));
  await expect(presence.missingFor(podTemplate(claim), "team")).rejects.toThrow("no answer");
});

it("The sentence names what is missing and the fix", () => {
  const one: Needed = { kind: "PersistentVolumeClaim", namespace: "team", name: "data" };
  expect(missingSentence([one])).toBe(
    "PersistentVolumeClaim team/data does not exist on this cluster; create it there, and the Job goes on",
  );
  expect(missingSentence(Array.from({ length: 7 }, () => one))).toMatch(
    / and 2 more do not exist .* create them there/,
  );
});
