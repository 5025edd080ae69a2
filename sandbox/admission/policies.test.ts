import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { SandboxCluster } from "../cluster.ts";
import { bindingType, policyType } from "./policy-types.ts";

const policies = policyType as Resource<KubeObject & { spec?: Record<string, unknown> }>;
const bindings = bindingType as Resource;
const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "busybox" }] } };
const newJob = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { template, ...spec } });
const matchConstraints = {
  resourceRules: [{ apiGroups: ["batch"], apiVersions: ["v1"], resources: ["jobs"], operations: ["CREATE"] }],
};
const setting = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const suspending = {
  matchConstraints,
  mutations: [setting("Object{spec: Object.spec{suspend: true}}")],
  reinvocationPolicy: "Never",
};

let cluster: SandboxCluster;
beforeEach(async () => {
  cluster = new SandboxCluster({ clock: new VirtualClock(), seed: 7, kubelet: "none" });
  await cluster.start();
  return () => cluster.stop();
});

const policy = (spec: Record<string, unknown>) =>
  cluster.api.create(policies, undefined, { metadata: { name: "p" }, spec });
const bind = (policyName = "p") =>
  cluster.api.create(bindings, undefined, { metadata: { name: policyName }, spec: { policyName } } as KubeObject);
const created = (name: string, spec: object = {}) => cluster.api.create(jobs, "default", newJob(name, spec));

describe("a policy", () => {
  it("changes new objects once it is bound, and no longer when it is gone", async () => {
    await policy(suspending);
    expect((await created("before")).spec.suspend).toBe(false);
    await bind();
    expect((await created("bound")).spec.suspend).toBe(true);
    await cluster.api.delete(policies, { name: "p" });
    expect((await created("after")).spec.suspend).toBe(false);
  });

  it("follows its own changes", async () => {
    await policy(suspending);
    await bind();
    const changed = { ...suspending, mutations: [setting("Object{spec: Object.spec{parallelism: 7}}")] };
    await cluster.api.patch(policies, { name: "p" }, { type: "merge", body: { spec: changed } });
    expect((await created("a")).spec).toMatchObject({ suspend: false, parallelism: 7 });
  });

  it("looks at group, version, resource, labels of the object and of its namespace", async () => {
    await cluster.api.create(namespaces, undefined, { metadata: { name: "chosen", labels: { team: "a" } } });
    const selected = {
      ...matchConstraints,
      namespaceSelector: { matchLabels: { team: "a" } },
      objectSelector: { matchExpressions: [{ key: "free", operator: "DoesNotExist" }] },
    };
    await policy({ ...suspending, matchConstraints: selected });
    await bind();
    const inNamespace = async (namespace: string, labels: Record<string, string> = {}) => {
      const { spec } = newJob("x");
      const job = await cluster.api.create(jobs, namespace, { metadata: { generateName: "x-", labels }, spec });
      return job.spec.suspend;
    };
    expect(await inNamespace("chosen")).toBe(true);
    expect(await inNamespace("default")).toBe(false);
    expect(await inNamespace("chosen", { free: "yes" })).toBe(false);
    const pod = await cluster.api.create(pods, "chosen", { metadata: { name: "x" }, spec: template.spec });
    expect(pod.spec).not.toHaveProperty("suspend");
  });

  it("is left out when a match condition does not hold", async () => {
    const matchConditions = [{ name: "wide", expression: "object.spec.parallelism > 3" }];
    await policy({ ...suspending, matchConditions });
    await bind();
    expect((await created("narrow", { parallelism: 3 })).spec.suspend).toBe(false);
    expect((await created("wide", { parallelism: 4 })).spec.suspend).toBe(true);
  });

  it("sees defaults, and what it sets is defaulted and validated as if the user had written it", async () => {
    const mutations = [
      setting("Object{spec: Object.spec{completionMode: 'Indexed', completions: object.spec.parallelism + 4}}"),
    ];
    await policy({ ...suspending, mutations });
    await bind();
    expect((await created("a")).spec).toMatchObject({ completionMode: "Indexed", completions: 5 });
    await cluster.api.patch(
      policies,
      { name: "p" },
      { type: "merge", body: { spec: { mutations: [setting("Object{spec: Object.spec{backoffLimit: -1}}")] } } },
    );
    await expect(created("b")).rejects.toMatchObject({ code: 422, message: expect.stringContaining("backoffLimit") });
  });

  it.each([
    [
      "Fail",
      { code: 422, message: expect.stringContaining("policy 'p' with binding 'p' denied request: no such key") },
    ],
    ["Ignore", undefined],
  ])("that cannot be worked out follows its failurePolicy %s", async (failurePolicy, refusal) => {
    const matchConditions = [{ name: "odd", expression: "object.spec.nothing.here == 1" }];
    await policy({ ...suspending, failurePolicy, matchConditions });
    await bind();
    if (refusal === undefined) expect((await created("a")).spec.suspend).toBe(false);
    else await expect(created("a")).rejects.toMatchObject(refusal);
  });

  it.each<[string, object]>([
    ["spec.matchConstraints", { matchConstraints: undefined }],
    ["spec.mutations", { mutations: [] }],
    ["spec.reinvocationPolicy", { reinvocationPolicy: "IfNeeded" }],
    ["spec.failurePolicy", { failurePolicy: "Perhaps" }],
    ["spec.paramKind", { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }],
    ["spec.variables", { variables: [{ name: "x", expression: "1" }] }],
    ["spec.mutations[0].patchType", { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[]" } }] }],
    ["request", { matchConditions: [{ name: "who", expression: "request.userInfo.username == 'x'" }] }],
    [
      "spec.matchConstraints.resourceRules[0].operations",
      { matchConstraints: { resourceRules: [{ ...matchConstraints.resourceRules[0], operations: ["UPDATE"] }] } },
    ],
    [
      "spec.matchConstraints.excludeResourceRules",
      { matchConstraints: { ...matchConstraints, excludeResourceRules: [{}] } },
    ],
  ])("that the sandbox cannot carry out is refused: %s", async (field, change) => {
    await expect(policy({ ...suspending, ...change })).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(field),
    });
  });
});
