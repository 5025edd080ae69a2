/** Shadow pods on real control planes, with the roles and policies that deploy/hub-pods ships. */
import { nodes } from "@jobferry/manager/pods/node.ts";
import { newShadow } from "@jobferry/manager/pods/projection.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { leases, pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forever } from "../dispatch/fleet-namespace.ts";
import { RealFleet } from "../dispatch/real-fleet.ts";

const fleet = new RealFleet({ workers: ["east"], pods: true });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

const shadows = async (namespace: string): Promise<Pod[]> =>
  (await fleet.hub.api.list(pods, { namespace, labelSelector: SHADOW_LABEL })).items;

const untilShown = (namespace: string, phase: string) =>
  fleet.until(`a shadow in ${namespace} is ${phase}`, async () => {
    return (await shadows(namespace)).map(({ status }) => status?.phase).join() === phase;
  });

describe.concurrent("the hub shows", () => {
  it("the pod of a Job from its start to its end, under one name, as kubectl finds it", async () => {
    const at = await fleet.namespace("shown");
    await at.submit("pi", { pod: forever });
    await untilShown(at.name, "Running");
    const [before] = await shadows(at.name);
    const shown = await fleet.hub.kubectl("get", "pods", "-n", at.name, "-l", "job-name=pi", "--no-headers");
    expect(shown.stdout).toMatch(new RegExp(`^${before?.metadata.name} +[01]/1 +Running`));
    expect(before?.metadata.labels?.[CLUSTER]).toBe("east");
    await at.end("pi", 0);
    expect((await at.untilFinished("pi")).status?.succeeded).toBe(1);
    await untilShown(at.name, "Succeeded");
    expect((await shadows(at.name))[0]?.metadata.uid).toBe(before?.metadata.uid);
  });

  it("nothing any more of a Job that was deleted", async () => {
    const at = await fleet.namespace("deleted");
    for (const policy of ["Background", "Foreground"] as const) {
      await at.submit("pi", { pod: forever });
      await untilShown(at.name, "Running");
      await at.delete("pi", policy);
      await fleet.until("Job and shadow are gone", async () => {
        return (await at.job("pi")) === undefined && (await shadows(at.name)).length === 0;
      });
    }
  });

  it("that a pod was deleted: its worker's pod goes, and the next one is shown", async () => {
    const at = await fleet.namespace("passed-on");
    await at.submit("pi", { pod: forever });
    await untilShown(at.name, "Running");
    const [before] = await shadows(at.name);
    const name = before?.metadata.name ?? "";
    const { code } = await fleet.hub.kubectl("delete", "pod", name, "-n", at.name, "--wait=true", "--timeout=60s");
    expect(code).toBe(0);
    await untilShown(at.name, "Running");
    expect((await shadows(at.name))[0]?.metadata.name).not.toBe(name);
    const { items } = await fleet.worker("east").api.list(pods, { namespace: at.mapped });
    expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(1);
  });

  it("the shadow again that was removed by force, and the worker's pod is not touched", async () => {
    const at = await fleet.namespace("forced");
    await at.submit("pi", { pod: forever });
    await untilShown(at.name, "Running");
    const [before] = await shadows(at.name);
    const uids = async (): Promise<unknown> =>
      (await fleet.worker("east").api.list(pods, { namespace: at.mapped })).items.map(({ metadata }) => metadata.uid);
    const worker = await uids();
    const name = before?.metadata.name ?? "";
    await fleet.hub.kubectl("delete", "pod", name, "-n", at.name, "--force", "--grace-period=0");
    await fleet.until("the shadow is back", async () => {
      const [now] = await shadows(at.name);
      return now?.metadata.uid !== before?.metadata.uid && now?.status?.phase === "Running";
    });
    expect(await uids()).toEqual(worker);
  });
});

it("the node is Ready, and nothing can be scheduled there", async () => {
  const node = await fleet.hub.api.get(nodes, { name: "jobferry" });
  expect(node.spec?.taints).toContainEqual(expect.objectContaining({ effect: "NoSchedule" }));
  expect(node.status).toMatchObject({ allocatable: { cpu: "0", memory: "0", pods: "0" } });
  const shown = await fleet.hub.kubectl("get", "node", "jobferry", "--no-headers");
  expect(shown.stdout).toMatch(/^jobferry +Ready /);
});

describe("the manager's account may not", () => {
  let manager: KubeApi;
  let shadow: Pod;
  beforeAll(async () => {
    const kubeconfig = `${fleet.hub.kubeconfigPath}-jobferry-manager`;
    manager = (await openClient({ kubeconfig }, {}, {})).api;
    const at = await fleet.namespace("confined");
    const job = await at.submit("pi", { spec: { suspend: true } });
    shadow = newShadow(job, { key: "test" });
    await fleet.until("the policies are in force", async () =>
      create({ ...shadow, spec: { ...shadow.spec, nodeName: "real" } }).then(
        () => false,
        (error: Error) => /bound to the node jobferry/.test(error.message),
      ),
    );
  }, 60_000);

  const create = (pod: Pod, namespace = "confined"): Promise<Pod> =>
    manager.create(pods, namespace, { ...pod, metadata: { ...pod.metadata, namespace } }, { dryRun: true });

  it("create pods anywhere but on its node, as what they are, for their Job", async () => {
    const { nodeName: _, ...unbound } = shadow.spec;
    const label = shadow.metadata.labels?.[SHADOW_LABEL] ?? "";
    await expect(create({ ...shadow, spec: unbound })).rejects.toThrow(/bound to the node jobferry/);
    await expect(create({ ...shadow, metadata: { ...shadow.metadata, labels: {} } })).rejects.toThrow(/label/);
    await expect(create({ ...shadow, metadata: { ...shadow.metadata, ownerReferences: [] } })).rejects.toThrow(/Job/);
    await expect(create(shadow, "kube-system")).rejects.toThrow(/control plane/);
    // What it does every day passes the same policies.
    expect((await create(shadow)).metadata.labels?.[SHADOW_LABEL]).toBe(label);
  });

  it("touch anybody else's pod, node or Lease", async () => {
    const own = { metadata: { name: "own" }, spec: { nodeName: "real", containers: [{ name: "a", image: "b" }] } };
    const pod = await fleet.hub.api.create(pods, "confined", own);
    const key = { namespace: "confined", name: "own" };
    await expect(manager.delete(pods, key)).rejects.toThrow(/bound to the node jobferry/);
    await expect(manager.replace(pods, key, pod, { subresource: "status" })).rejects.toThrow(/node jobferry/);
    await expect(manager.replace(pods, key, pod)).rejects.toThrow(/forbidden/);
    const node = { metadata: { name: "real" } };
    await expect(manager.create(nodes, undefined, node)).rejects.toThrow(/only touch the node jobferry/);
    await fleet.hub.api.create(nodes, undefined, node);
    await expect(manager.delete(nodes, { name: "real" })).rejects.toThrow(/forbidden/);
    const body = { status: { allocatable: { cpu: "0" } } };
    await expect(
      manager.patch(nodes, { name: "real" }, { type: "merge", body }, { subresource: "status" }),
    ).rejects.toThrow(/forbidden/);
    const lease = { metadata: { name: "real" } };
    await expect(manager.create(leases, "kube-node-lease", lease)).rejects.toThrow(/only touch the node jobferry/);
  });
});
