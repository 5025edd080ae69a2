/** What somebody who may create Jobs and pods on a worker can do to others there: nothing. */
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { EPOCH, HUB_UID_LABEL, MESSAGE, PROOF, REVISION, WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { generateMirrorKey, Proofs, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "busybox" }] } };
let fleet: Fleet;
let east: KubeApi;

beforeEach(async () => {
  fleet = await new Fleet({
    workers: ["east"],
    behaviour: ({ metadata }) => ({ runMs: metadata.namespace === "dev" ? 1_000 : 3_600_000, stopMs: 100 }),
  }).start();
  east = fleet.workers.get("east")?.cluster.api as KubeApi;
  await east.create(namespaces, undefined, { metadata: { name: "dev" } });
});
afterEach(() => fleet.stop());

async function running(name: string): Promise<Job> {
  await fleet.submit(name);
  await fleet.until(async () => (await fleet.job(name))?.status?.active === 1);
  return (await fleet.job(name)) as Job;
}

/** Made by somebody on the worker. */
const plant = (namespace: string, name: string, metadata: Partial<Job["metadata"]>, spec: Partial<JobSpec> = {}) =>
  east.create(jobs, namespace, {
    metadata: { name, ...metadata },
    spec: { managedBy: WORKER_MANAGED_BY, template, ...spec },
  });

it("a Job with the label, and even the proof, of another's mirror reports nothing and removes nothing", async () => {
  const victim = await running("victim");
  const [{ mirror } = { mirror: undefined }] = await fleet.mirrors("victim");
  const labels = { [HUB_UID_LABEL]: victim.metadata.uid ?? "" };
  await plant("dev", "bare", { labels, annotations: { [EPOCH]: "1" } });
  await plant("dev", "copied", { labels, annotations: { ...mirror?.metadata.annotations } });
  await fleet.clock.advance(90_000);
  const after = await fleet.job("victim");
  expect(after?.status?.conditions ?? []).toEqual([]);
  expect(after?.status?.active).toBe(1);
  expect(await fleet.podsOn("east")).toBe(1);
  // Nobody runs them either: they belong to no agent.
  expect((await east.list(pods, { namespace: "dev" })).items).toEqual([]);
});

it("another hub's mirror on the same worker is neither run, changed nor removed", async () => {
  const proof = new Proofs(parseMirrorKeys(generateMirrorKey())).make("other-hub", "dev", "theirs");
  const labels = { [HUB_UID_LABEL]: "other-hub" };
  const planted = await plant("dev", "theirs", { labels, annotations: { [EPOCH]: "1", [PROOF]: proof } });
  await fleet.clock.advance(120_000);
  expect(await east.get(jobs, { namespace: "dev", name: "theirs" })).toEqual(planted);
});

it("a squatted name is said, whatever marks the squatter copied", async () => {
  const annotations = { [EPOCH]: "1", [REVISION]: "9007199254740991" };
  await plant("default", "nightly", { labels: { [HUB_UID_LABEL]: "squatter" }, annotations }, { suspend: true });
  await fleet.submit("nightly");
  await fleet.until(async () => /NameTaken/.test((await fleet.job("nightly"))?.metadata.annotations?.[MESSAGE] ?? ""));
});

it("a selector written by hand does not take in pods that were not made for the mirror", async () => {
  const labels = { app: "db" };
  await east.create(pods, "default", {
    metadata: { name: "database", labels },
    spec: { containers: [{ name: "main", image: "postgres" }] },
  });
  await fleet.submit("thief", {
    manualSelector: true,
    selector: { matchLabels: labels },
    template: { ...template, metadata: { labels } },
  });
  await fleet.until(async () => (await fleet.job("thief"))?.status?.active === 1);
  await fleet.hub.api.delete(jobs, { namespace: "default", name: "thief" }, { propagationPolicy: "Foreground" });
  await fleet.until(async () => (await fleet.podsOn("east")) === 1);
  const database = await east.get(pods, { namespace: "default", name: "database" });
  expect(database.metadata).toMatchObject({ name: "database", labels });
  expect([database.metadata.ownerReferences, database.metadata.finalizers]).toEqual([undefined, undefined]);
});

it("the mirror key is changed in two steps, and no mirror is lost", async () => {
  await running("long");
  const worker = fleet.workers.get("east");
  const [former] = worker?.mirrorKeys ?? [];
  const [next] = parseMirrorKeys(generateMirrorKey());
  const proofOf = async () => (await fleet.mirrors("long"))[0]?.mirror.metadata.annotations?.[PROOF];
  const before = await proofOf();
  for (const mirrorKeys of [[next, former as Buffer] as const, [next] as const]) {
    await fleet.stopAgent("east");
    fleet.startAgent("east", { mirrorKeys });
    await fleet.clock.advance(60_000);
    expect(await proofOf()).not.toBe(before);
    expect((await fleet.job("long"))?.metadata.annotations?.[EPOCH]).toBe("1");
    expect(await fleet.podsOn("east")).toBe(1);
  }
});
