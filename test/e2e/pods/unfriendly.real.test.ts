/** Hubs and users that get in the way of shadow pods, on a real API server: the Job runs, and somebody is told. */
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { events, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outputOf } from "../../harness/run-command.ts";
import { type FleetNamespace, forever } from "../dispatch/fleet-namespace.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { type StandInLogFleet, startLogFleet } from "./log-fleet.ts";

let log: StandInLogFleet | undefined;
let fleet: RealFleet;
beforeAll(async () => {
  const controllers = ["garbage-collector-controller", "resourcequota-controller"];
  log = await startLogFleet({ hubApiServer: { controllers } });
  ({ fleet } = log);
}, 300_000);
afterAll(() => log?.stop());

const named = (plural: string, kind: string): Resource<KubeObject & { spec: object }> => ({
  ...{ group: "", version: "v1", plural, kind, namespaced: true },
});
const limitRanges = named("limitranges", "LimitRange");
const quotas = named("resourcequotas", "ResourceQuota");

const shadows = async ({ name }: FleetNamespace): Promise<Pod[]> =>
  (await fleet.hub.api.list(pods, { namespace: name, labelSelector: SHADOW_LABEL })).items;

const untilShown = (at: FleetNamespace, phase: string) =>
  at.until(`its shadow is ${phase}`, async () => {
    return (await shadows(at)).map(({ status }) => status?.phase).join() === phase;
  });

/** A quota that its controller has counted once; before that it refuses everything. */
async function quotaOf(at: FleetNamespace, hard: Record<string, string>): Promise<void> {
  await fleet.hub.api.create(quotas, at.name, { metadata: { name: "all" }, spec: { hard } });
  await at.until("the quota is counted", async () => {
    const { status } = (await fleet.hub.api.get(quotas, { namespace: at.name, name: "all" })) as {
      status?: { hard?: object };
    };
    return status?.hard !== undefined;
  });
}

/** A rule of the namespace holds for pods from now on. */
const untilRefused = (at: FleetNamespace, rule: RegExp) => {
  const probe = {
    metadata: { name: "probe" },
    spec: { containers: [{ name: "a", image: "b", resources: { requests: { cpu: "0" } } }] },
  };
  return at.until(`pods are refused: ${rule}`, () =>
    fleet.hub.api.create(pods, at.name, probe, { dryRun: true }).then(
      () => false,
      (error: Error) => rule.test(error.message),
    ),
  );
};

const refusals = async ({ name }: FleetNamespace): Promise<string[]> =>
  (await fleet.hub.api.list(events, { namespace: name })).items
    .filter(({ reason }) => reason === "ShadowPodRefused")
    .map(({ message = "" }) => message);

describe.concurrent("a namespace of the hub", () => {
  it("with Pod Security restricted, a quota for all that pods ask for and default limits shows pods", async () => {
    const at = await fleet.namespace("strict");
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await fleet.hub.api.patch(namespaces, { name: at.name }, { type: "merge", body: { metadata: { labels } } });
    const hard = Object.fromEntries(
      ["cpu", "memory", "ephemeral-storage"].flatMap((each) => [
        [`requests.${each}`, "0"],
        [`limits.${each}`, "0"],
      ]),
    );
    await quotaOf(at, hard);
    const limits = [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "1" }, max: { cpu: "2" } }];
    await fleet.hub.api.create(limitRanges, at.name, { metadata: { name: "defaults" }, spec: { limits } });
    await untilRefused(at, /PodSecurity/);
    const init = { name: "prepare", image: "none", resources: { requests: { cpu: "500m" } } };
    await at.submit("pi", { pod: { spec: { containers: [{ name: "main", image: "none" }], initContainers: [init] } } });
    await at.untilFinished("pi");
    expect(await refusals(at)).toEqual([]);
    await untilShown(at, "Succeeded");
    expect((await shadows(at))[0]?.metadata.annotations?.["jobferry.dev/resources"]).toMatch(/500m/);
  });

  it.each([
    ["that lets no pod in", "full", { pods: "0" }, undefined, /exceeded quota/],
    ["that wants more of every pod", "least", undefined, { cpu: "10m" }, /minimum cpu usage per Container is 10m/],
  ])("%s is told of once on the Job, which runs all the same", async (_, name, hard, min, expected) => {
    const at = await fleet.namespace(name);
    if (hard !== undefined) await quotaOf(at, hard);
    const limits = [{ type: "Container", min }];
    if (min !== undefined)
      await fleet.hub.api.create(limitRanges, name, { metadata: { name: "least" }, spec: { limits } });
    await untilRefused(at, expected);
    await at.submit("pi");
    expect((await at.untilFinished("pi")).status?.succeeded).toBe(1);
    await at.until("the Job says so", async () => (await refusals(at)).length > 0);
    expect(await refusals(at)).toEqual([expect.stringMatching(expected)]);
    expect(await shadows(at)).toEqual([]);
  });

  it("whose pods get another container shows them, and has a log of each container but that one", async () => {
    const at = await fleet.namespace("injected");
    const labels = { inject: "yes" };
    await fleet.hub.api.patch(namespaces, { name: at.name }, { type: "merge", body: { metadata: { labels } } });
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name: "inject" },
      spec: {
        failurePolicy: "Fail",
        reinvocationPolicy: "Never",
        matchConstraints: {
          namespaceSelector: { matchLabels: labels },
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
        },
        mutations: [
          {
            patchType: "JSONPatch",
            jsonPatch: {
              expression:
                '[JSONPatch{op: "add", path: "/spec/containers/0", value: Object.spec.containers{name: "proxy", image: "proxy"}}]',
            },
          },
        ],
      },
    };
    const binding = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicyBinding",
      metadata: { name: "inject" },
      spec: { policyName: "inject" },
    };
    for (const object of [policy, binding])
      await outputOf(fleet.hub.kubectlWith(JSON.stringify(object), "create", "-f", "-"));
    const probe = { metadata: { name: "probe" }, spec: { containers: [{ name: "a", image: "b" }] } };
    await at.until("the policy is in force", async () => {
      const { spec } = await fleet.hub.api.create(pods, at.name, probe, { dryRun: true });
      return spec.containers.length === 2;
    });
    log?.kubelet.serve(at.mapped, ({ container }, response) => void response.end(`${container} speaks\n`));
    await at.submit("pi", { pod: forever });
    await untilShown(at, "Running");
    expect((await shadows(at))[0]?.spec.containers.map(({ name }) => name)).toEqual(["proxy", "main"]);
    const read = (container: string) => fleet.hub.kubectl("logs", "job/pi", "-n", at.name, "-c", container);
    expect((await read("main")).stdout).toBe("main speaks\n");
    expect((await read("proxy")).stderr).toMatch(/container proxy is not valid for pod/);
    await at.end("pi", 0);
    await at.untilFinished("pi");
    await untilShown(at, "Succeeded");
  });
});

describe.concurrent("a user", () => {
  it("who edits a shadow changes nothing that it shows, and cannot take off its label", async () => {
    const at = await fleet.namespace("edited");
    await at.submit("pi", { pod: forever });
    await untilShown(at, "Running");
    const name = (await shadows(at))[0]?.metadata.name ?? "";
    const kubectl = (...args: string[]) => fleet.hub.kubectl(...args, "-n", at.name);
    expect((await kubectl("label", "pod", name, `${SHADOW_LABEL}-`)).stderr).toMatch(/label jobferry.dev\/shadow/);
    expect((await kubectl("label", "pod", name, `${SHADOW_LABEL}=x`, "--overwrite")).stderr).toMatch(/stays as it is/);
    await kubectl("label", "pod", name, "jobferry.dev/cluster=west", "mine=yes", "--overwrite");
    await kubectl("annotate", "pod", name, "jobferry.dev/worker-pod=another", "--overwrite");
    await at.until("it says again where its pod is", async () => {
      const { labels, annotations } = (await shadows(at))[0]?.metadata ?? {};
      return labels?.["jobferry.dev/cluster"] === "east" && annotations?.["jobferry.dev/worker-pod"] !== "another";
    });
    expect((await shadows(at))[0]?.metadata.labels?.mine).toBe("yes");
    await at.end("pi", 0);
    await at.untilFinished("pi");
    await untilShown(at, "Succeeded");
  });

  it("who holds a shadow by a finalizer keeps it, and nothing else: the worker's pod and the Job go", async () => {
    const at = await fleet.namespace("held");
    await at.submit("pi", { pod: forever });
    await untilShown(at, "Running");
    const name = (await shadows(at))[0]?.metadata.name ?? "";
    const body = { metadata: { finalizers: ["example.com/mine"] } };
    await fleet.hub.api.patch(pods, { namespace: at.name, name }, { type: "merge", body });
    await fleet.hub.kubectl("delete", "pod", name, "-n", at.name, "--wait=false");
    await at.until("another pod is shown beside it", async () => {
      const [held, next] = (await shadows(at)).sort((a) => (a.metadata.name === name ? -1 : 1));
      return held?.metadata.deletionTimestamp !== undefined && next?.status?.phase === "Running";
    });
    await at.delete("pi", "Background");
    await at.until("the Job is gone, with its pods", async () => {
      return (await at.job("pi")) === undefined && (await at.pods("pi")).length === 0;
    });
    await fleet.hub.api.patch(
      pods,
      { namespace: at.name, name },
      { type: "merge", body: { metadata: { finalizers: [] } } },
    );
    await at.until("nothing is left", async () => (await shadows(at)).length === 0);
  });

  it("whose pod claims to be a shadow keeps it, wherever it runs; the Job's own are shown", async () => {
    const [at, other] = [await fleet.namespace("claimed"), await fleet.namespace("claiming")];
    const { metadata } = await at.submit("pi", { spec: { suspend: true } });
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: metadata.uid ?? "", controller: true };
    const claim = (nodeName: string) => ({
      metadata: { name: `on-${nodeName}`, labels: { [SHADOW_LABEL]: metadata.uid ?? "" }, ownerReferences: [owner] },
      spec: { nodeName, containers: [{ name: "main", image: "none" }] },
    });
    const own = await fleet.hub.api.create(pods, at.name, claim("real"));
    const far = await fleet.hub.api.create(pods, other.name, claim("jobferry"));
    await fleet.hub.kubectl("patch", "job", "pi", "-n", at.name, "-p", '{"spec":{"suspend":false}}');
    await at.untilFinished("pi");
    await at.until("its shadow shows the end", async () => {
      return (await shadows(at)).some(
        ({ spec, status }) => spec.nodeName === "jobferry" && status?.phase === "Succeeded",
      );
    });
    expect(await refusals(at)).toEqual([]);
    for (const pod of [own, far]) {
      const key = { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name ?? "" };
      expect((await fleet.hub.api.get(pods, key)).metadata).toMatchObject({ uid: pod.metadata.uid ?? "" });
    }
    await fleet.hub.kubectl("delete", "pod", "on-jobferry", "-n", other.name, "--force", "--grace-period=0");
  });

  it("who has a Job with the longest name, with dots, sees its pods", async () => {
    const at = await fleet.namespace("long");
    const name = `${"a".repeat(56)}.${"b".repeat(6)}`;
    await at.submit(name);
    await at.untilFinished(name);
    await untilShown(at, "Succeeded");
    expect(await refusals(at)).toEqual([]);
  });
});
