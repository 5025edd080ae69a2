/** The admission policies of deploy/ on a real API server, against users with every right in their own namespace. */
import { join } from "node:path";
import type { Job } from "@jobferry/shared/job/types.ts";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";
import { isForbidden } from "@jobferry/shared/kube/errors.ts";
import { events, jobs, namespaces, pods, secrets } from "@jobferry/shared/kube/resources.ts";
import {
  ASSIGNED_QUEUE,
  CARRY,
  CLUSTER,
  EPOCH,
  GENERATION,
  GRANT,
  HUB_MANAGED_BY,
  HUB_UID_LABEL,
  LEAVING,
  MESSAGE,
  OVER,
  PREEMPTED,
  PROOF,
  REVISION,
  SEQ,
  STOP_AFTER,
  WITHDRAW_FINALIZER,
} from "@jobferry/shared/protocol/marks.ts";
import { readMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { install } from "../e2e/dispatch/installation.ts";
import { realCluster } from "../harness/real-cluster.ts";
import type { RealCluster } from "../harness/real-cluster-options.ts";
import { outputOf } from "../harness/run-command.ts";

const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const worker = "jobferry.dev/worker-agent";
const MARKS = [LEAVING, PREEMPTED, CLUSTER, EPOCH, ASSIGNED_QUEUE, STOP_AFTER, GRANT, SEQ, MESSAGE];
const nodes: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

let cluster: RealCluster;
/** Rules her own namespace, and nothing else. */
let alice: KubeApi;
let manager: KubeApi;
const clients: { close(): Promise<void> }[] = [];

async function clientOf(kubeconfig: string): Promise<KubeApi> {
  const client = createClient(await findAccess({ kubeconfig }));
  clients.push(client);
  return client;
}

beforeAll(async () => {
  cluster = await realCluster();
  manager = await clientOf(await install(cluster, "hub", "jobferry-manager"));
  await cluster.api.create(namespaces, undefined, { metadata: { name: "team-a" } });
  alice = await clientOf(await cluster.serviceAccount({ name: "alice", namespace: "team-a", rules: EVERYTHING }));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await cluster?.stop();
});

const key = (name: string) => ({ namespace: "team-a", name });
const manifest = (name: string, metadata: object = {}, managedBy = HUB_MANAGED_BY): Job => ({
  metadata: { name, ...metadata },
  spec: {
    managedBy,
    template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } },
  },
});
const annotate = (api: KubeApi, name: string, annotations: Record<string, string | null>, subresource?: "status") =>
  api.patch(jobs, key(name), { type: "merge", body: { metadata: { annotations } } }, subresource && { subresource });
const marked = (value: string) => Object.fromEntries(MARKS.map((mark) => [mark, value]));

/** A real server takes up policies a moment after it stored them. */
async function untilGuarded(name: string): Promise<void> {
  const body = { metadata: { annotations: { [CLUSTER]: "east" } } };
  const refused = () =>
    alice.patch(jobs, key(name), { type: "merge", body }, { dryRun: true }).then(
      () => false,
      (error: unknown) => isForbidden(error),
    );
  await vi.waitUntil(refused, { timeout: 60_000, interval: 100 });
}

describe("the guard of the hub", () => {
  beforeAll(async () => {
    await alice.create(jobs, "team-a", manifest("probe"));
    await untilGuarded("probe");
  });

  it("keeps every mark of an assignment from a submitter who may do anything in the namespace", async () => {
    await alice.create(jobs, "team-a", manifest("mine"));
    for (const mark of MARKS)
      for (const subresource of [undefined, "status"] as const)
        await expect(annotate(alice, "mine", { [mark]: "1" }, subresource)).rejects.toThrow(
          `only the manager changes ${mark}`,
        );
    const body = { metadata: { finalizers: [WITHDRAW_FINALIZER] } };
    await expect(alice.patch(jobs, key("mine"), { type: "merge", body })).rejects.toThrow(/finalizer/);
  });

  it("lets the manager set them, and keeps the submitter from changing them or taking them away", async () => {
    await alice.create(jobs, "team-a", manifest("placed"));
    const body = { metadata: { annotations: marked("1"), finalizers: [WITHDRAW_FINALIZER] } };
    await manager.patch(jobs, key("placed"), { type: "merge", body });
    await expect(annotate(alice, "placed", { [EPOCH]: "2" })).rejects.toThrow(/epoch/);
    await expect(annotate(alice, "placed", { [GRANT]: null })).rejects.toThrow(/grant/);
    const bare = { metadata: { finalizers: null } };
    await expect(alice.patch(jobs, key("placed"), { type: "merge", body: bare })).rejects.toThrow(/finalizer/);
    // Everything else is hers: her own annotations, the spec, the deletion.
    await annotate(alice, "placed", { "example.com/note": "hers", "jobferry.dev/priority": "5" });
    await alice.patch(jobs, key("placed"), { type: "merge", body: { spec: { parallelism: 3 } } });
    await alice.delete(jobs, key("placed"), {});
    await manager.patch(jobs, key("placed"), { type: "merge", body: bare });
  });

  it("lets an administrator repair a Job, and an account that was given the right", async () => {
    await alice.create(jobs, "team-a", manifest("broken"));
    await annotate(cluster.api, "broken", { [CLUSTER]: "east" });
    const rights = [
      { apiGroups: ["batch"], resources: ["jobs"], verbs: ["patch"] },
      { apiGroups: ["jobferry.dev"], resources: ["assignments"], verbs: ["write"] },
    ];
    const keeper = await clientOf(await cluster.serviceAccount({ name: "keeper", clusterRules: rights }));
    expect((await annotate(keeper, "broken", { [CLUSTER]: null })).metadata.annotations).toBeUndefined();
  });

  it("does not ask about Jobs that are not dispatched", async () => {
    await alice.create(jobs, "team-a", manifest("local", {}, "example.com/other"));
    await annotate(alice, "local", marked("1"));
  });
});

describe("on the way in", () => {
  it("a cloned manifest loses the marks, and keeps what is the submitter's", async () => {
    const metadata = {
      annotations: { ...marked("1"), "jobferry.dev/priority": "7" },
      finalizers: ["example.com/hers", WITHDRAW_FINALIZER],
    };
    const create = (name: string) => alice.create(jobs, "team-a", manifest(name, metadata), { dryRun: true });
    await vi.waitUntil(async () => (await create("probe2")).metadata.annotations?.[CLUSTER] === undefined, {
      timeout: 60_000,
      interval: 100,
    });
    const { metadata: stored } = await create("cloned");
    expect(stored.annotations).toEqual({ "jobferry.dev/priority": "7" });
    expect(stored.finalizers).toEqual(["example.com/hers"]);
  });

  it("a manifest without them is left as it is, and a backup is restored whole by an administrator", async () => {
    const plain = await alice.create(jobs, "team-a", manifest("plain"), { dryRun: true });
    expect(plain.metadata.annotations).toBeUndefined();
    const restored = manifest("restored", { annotations: marked("1"), finalizers: [WITHDRAW_FINALIZER] });
    const { metadata } = await cluster.api.create(jobs, "team-a", restored, { dryRun: true });
    expect(metadata).toMatchObject({ annotations: marked("1"), finalizers: [WITHDRAW_FINALIZER] });
  });

  it("says nothing against the expressions of any policy", async () => {
    const policies = "validatingadmissionpolicies,mutatingadmissionpolicies";
    const { items } = JSON.parse(await outputOf(cluster.kubectl("get", policies, "-o", "json"))) as {
      items: { metadata: { name: string }; status?: { typeChecking?: { expressionWarnings?: unknown[] } } }[];
    };
    expect(items.length).toBeGreaterThan(2);
    for (const { metadata, status } of items)
      expect([metadata.name, status?.typeChecking?.expressionWarnings ?? []]).toEqual([metadata.name, []]);
  });
});

describe("the guard of a worker", () => {
  let agent: KubeApi;
  const uid = { [HUB_UID_LABEL]: "hub-job" };
  const mirror = (name: string) => manifest(name, { labels: uid, annotations: { [EPOCH]: "1", [PROOF]: "p" } }, worker);

  beforeAll(async () => {
    agent = await clientOf(await install(cluster, "worker", "jobferry-agent"));
    const create = () => alice.create(jobs, "team-a", mirror("probe3"), { dryRun: true });
    const refused = () => create().then(() => false, isForbidden);
    await vi.waitUntil(refused, { timeout: 60_000, interval: 100 });
  });

  it("lets the agent make mirrors, and nobody who rules the namespace", async () => {
    await expect(alice.create(jobs, "team-a", mirror("fake"))).rejects.toThrow(/only Jobferry's agent/);
    await agent.create(jobs, "team-a", mirror("true"));
    await agent.patch(jobs, key("true"), { type: "merge", body: { metadata: { annotations: { [OVER]: "true" } } } });
  });

  it("keeps label, proof and the other marks of a mirror from everybody else", async () => {
    await agent.create(jobs, "team-a", mirror("kept"));
    for (const mark of [PROOF, EPOCH, GENERATION, REVISION, STOP_AFTER, CARRY, OVER])
      await expect(annotate(alice, "kept", { [mark]: "2" }, "status")).rejects.toThrow(mark);
    for (const labels of [{ [HUB_UID_LABEL]: "other" }, { [HUB_UID_LABEL]: null }])
      await expect(alice.patch(jobs, key("kept"), { type: "merge", body: { metadata: { labels } } })).rejects.toThrow(
        HUB_UID_LABEL,
      );
    await alice.create(jobs, "team-a", manifest("own", {}, worker));
    const body = { metadata: { labels: uid } };
    await expect(alice.patch(jobs, key("own"), { type: "merge", body })).rejects.toThrow(HUB_UID_LABEL);
    // The rest is the namespace's.
    await annotate(alice, "kept", { note: "hers" });
    await alice.delete(jobs, key("kept"), {});
  });

  it("lets the agent keep its mirror key, and read no other Secret", async () => {
    const keys = await readMirrorKeys(agent, "jobferry-system");
    expect(await readMirrorKeys(agent, "jobferry-system")).toEqual(keys);
    const other = { namespace: "jobferry-system", name: "other" };
    await cluster.api.create(secrets, other.namespace, { metadata: { name: other.name } });
    await expect(agent.get(secrets, other)).rejects.toSatisfy(isForbidden);
  });
});

describe("an agent with rights namespace by namespace", () => {
  let agent: KubeApi;
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "main", image: "none" }] } };
  const dry = { dryRun: true };

  beforeAll(async () => {
    const roles = join(import.meta.dirname, "../../deploy/worker-roles");
    agent = await clientOf(await install(cluster, "worker", "jobferry-agent"));
    await outputOf(cluster.kubectl("delete", "clusterrolebinding", "jobferry-agent-jobs"));
    await outputOf(cluster.kubectl("apply", "-k", roles));
    await outputOf(cluster.kubectl("apply", "-k", join(roles, "namespace"), "-n", "team-a"));
    const forbidden = () => agent.create(pods, "default", pod, dry).then(() => false, isForbidden);
    await vi.waitUntil(forbidden, { timeout: 60_000, interval: 100 });
  });

  it("creates Jobs and pods where it is bound, and nowhere else", async () => {
    // A pod needs its account, which nothing makes here.
    await vi.waitUntil(async () => {
      const answer = await agent.create(jobs, "team-a", manifest("bound", {}, worker), dry).catch(() => undefined);
      return answer !== undefined;
    });
    for (const namespace of ["default", "kube-system", "jobferry-system"]) {
      await expect(agent.create(jobs, namespace, manifest("n", {}, worker), dry)).rejects.toSatisfy(isForbidden);
      await expect(agent.create(pods, namespace, pod, dry)).rejects.toSatisfy(isForbidden);
    }
    await expect(agent.delete(jobs, { namespace: "default", name: "x" }, {})).rejects.toSatisfy(isForbidden);
  });

  it("still sees mirrors, pods, events and nodes of the whole cluster", async () => {
    for (const resource of [jobs, pods, events, nodes, namespaces]) await agent.list<KubeObject>(resource);
  });
});
