/** ConfigMaps and Secrets that travel with Jobs, on a simulated fleet. */
import { jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { configMaps, events, jobs, pods, secrets } from "@jobferry/shared/kube/resources.ts";
import { AWAITS, CLUSTER, COPY_LABEL, COPY_OF, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());
const BOTH = new Set(["ConfigMap", "Secret"] as const);

/** One worker that takes everything, and queues that send it. */
async function start(
  options: FleetOptions = {},
  references = { configMaps: "Copy", secrets: "Copy" } as const,
): Promise<void> {
  fleet = await new Fleet({ workers: ["only"], acceptReferences: BOTH, ...options }).start();
  await fleet.hub.api.create(jobQueues, undefined, { metadata: { name: "default" }, spec: { references } });
  await fleet.clock.advance(1_000);
}

const using = (fields: object): PodSpec => ({
  restartPolicy: "Never",
  containers: [{ name: "main", image: "busybox", ...fields }],
});
const words = using({ envFrom: [{ configMapRef: { name: "words" } }] });
const submit = (name: string, spec: PodSpec) => fleet.submit(name, { template: { spec } });
const worker = () => fleet.workers.get("only")?.cluster.api ?? fleet.hub.api;
const at = (name: string) => ({ namespace: "default", name });
const onHub = (name: string, data: Record<string, string>) =>
  fleet.hub.api.create(configMaps, "default", { metadata: { name }, data });
const editOnHub = (name: string, data: Record<string, string | null>) =>
  fleet.hub.api.patch(configMaps, at(name), { type: "merge", body: { data } });
const copies = async (resource: typeof configMaps | typeof secrets = configMaps) =>
  (await worker().list(resource, { labelSelector: COPY_LABEL })).items;
const message = async (name: string) => (await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? "";
const running = (name: string) => fleet.until(async () => (await fleet.job(name))?.status?.active === 1, 60_000);

it("a ConfigMap travels: immutable, named by its contents, and gone with the last mirror", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  await submit("a", words);
  await fleet.until(async () => (await copies()).length === 1, 30_000);
  const [copy] = await copies();
  expect(copy).toMatchObject({ data: { greeting: "hello" }, immutable: true });
  expect(copy?.metadata.name).toMatch(/^words-[0-9a-f]{10}$/);
  expect(copy?.metadata.annotations?.[COPY_OF]).toBe("default/words");
  await fleet.until(async () => (await fleet.podsOn("only")) === 1, 5_000);
  const { items } = await worker().list(pods, { namespace: "default" });
  expect(items[0]?.spec.containers[0]?.envFrom).toEqual([{ configMapRef: { name: copy?.metadata.name } }]);
  expect((await fleet.untilFinished("a")).status?.succeeded).toBe(1);
  await fleet.until(async () => (await copies()).length === 0, 120_000);
});

it("a Secret travels with its type and its bytes", async () => {
  await start();
  const data = { user: Buffer.from("alice").toString("base64"), key: Buffer.from([0, 255, 128]).toString("base64") };
  await fleet.hub.api.create(secrets, "default", { metadata: { name: "login" }, type: "example.com/login", data });
  await submit("a", using({ env: [{ name: "U", valueFrom: { secretKeyRef: { name: "login", key: "user" } } }] }));
  await fleet.until(async () => (await copies(secrets)).length === 1, 30_000);
  expect(await copies(secrets)).toMatchObject([{ type: "example.com/login", data, immutable: true }]);
  expect((await fleet.untilFinished("a")).status?.succeeded).toBe(1);
});

it("Jobs with the same contents share one copy and one transfer; later ones of edited contents have another", async () => {
  await start({ behaviour: () => ({ runMs: 60_000 }) });
  await onHub("words", { greeting: "hello" });
  let sent = 0;
  fleet.bus.fate = ({ box }, text) => {
    if (box === "deliveries" && text.length > 0) sent++;
    return [0];
  };
  await submit("a", words);
  await running("a");
  const first = sent;
  await submit("b", words);
  await running("b");
  expect(sent - first).toBeLessThan(first);
  expect(await copies()).toHaveLength(1);
  await editOnHub("words", { greeting: "goodbye" });
  await submit("c", words);
  await running("c");
  expect((await copies()).map(({ data }) => data?.greeting).sort()).toEqual(["goodbye", "hello"]);
});

it("pods start only when the copies are there", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  let lost = true;
  // The agent's questions get lost: the mirror is there and waits.
  fleet.bus.fate = ({ box }, text) => (box === "reports" && lost && text.length < 700 ? [] : [0]);
  await submit("a", words);
  await fleet.until(async () => (await fleet.mirrors("a")).length === 1, 60_000);
  const [held] = await fleet.mirrors("a");
  expect(held?.mirror.metadata.annotations?.[AWAITS]).toBe("copies");
  await fleet.clock.advance(5_000);
  expect(await fleet.podsOn("only")).toBe(0);
  lost = false;
  expect((await fleet.untilFinished("a", 120_000)).status?.succeeded).toBe(1);
});

it("contents that change before they were sent are sent as they are then", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  let lost = true;
  fleet.bus.fate = ({ box }, text) => (box === "reports" && lost && text.length < 700 ? [] : [0]);
  await submit("a", words);
  await fleet.until(async () => (await fleet.mirrors("a")).length === 1, 60_000);
  await editOnHub("words", { greeting: "goodbye" });
  lost = false;
  await fleet.until(async () => (await copies()).length === 1, 120_000);
  expect((await copies())[0]?.data).toEqual({ greeting: "goodbye" });
  expect((await fleet.untilFinished("a", 120_000)).status?.succeeded).toBe(1);
});

it("an agent that is stopped while contents are under way goes on after its start", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  fleet.bus.fate = ({ box }, text) => (box === "reports" && text.length < 700 ? [] : [0]);
  await submit("a", words);
  await fleet.until(async () => (await fleet.mirrors("a")).length === 1, 60_000);
  await fleet.stopAgent("only");
  fleet.bus.fate = () => [0];
  fleet.startAgent("only");
  expect((await fleet.untilFinished("a", 120_000)).status?.succeeded).toBe(1);
  await fleet.until(async () => (await copies()).length === 0, 120_000);
});

it("a copy whose last mirror went while no agent ran goes when one starts, and nothing else does", async () => {
  await start({ behaviour: () => ({ runMs: 600_000 }) });
  await onHub("words", { greeting: "hello" });
  await submit("a", words);
  await running("a");
  await fleet.stopAgent("only");
  await worker().delete(jobs, at("a"), { propagationPolicy: "Background" });
  await fleet.hub.api.delete(jobs, at("a"), { propagationPolicy: "Background" });
  await worker().create(configMaps, "default", { metadata: { name: "mine-0123456789" } });
  expect(await copies()).toHaveLength(1);
  fleet.startAgent("only");
  await fleet.until(async () => (await copies()).length === 0, 60_000);
  expect((await worker().get(configMaps, at("mine-0123456789"))).metadata.name).toBe("mine-0123456789");
});

it("a Job waits for what the hub does not have, and goes on when it is created", async () => {
  await start();
  await submit("a", words);
  await fleet.until(async () => (await message("a")).includes("ConfigMap default/words does not exist on the hub"));
  expect(await fleet.mirrors("a")).toEqual([]);
  await onHub("words", {});
  await fleet.until(async () => (await fleet.mirrors("a")).length === 1, 10_000);
  expect((await fleet.untilFinished("a")).status?.succeeded).toBe(1);
});

it("what is optional and not on the hub is not a reason to wait", async () => {
  await start();
  await submit("a", using({ envFrom: [{ configMapRef: { name: "words", optional: true } }] }));
  expect((await fleet.untilFinished("a")).status?.succeeded).toBe(1);
  expect(await copies()).toEqual([]);
});

it("a cluster that takes no Secrets refuses, and says which flag would change that", async () => {
  await start({ acceptReferences: new Set(["ConfigMap"] as const) });
  await fleet.hub.api.create(secrets, "default", { metadata: { name: "login" } });
  await submit("a", using({ envFrom: [{ secretRef: { name: "login" } }] }));
  await fleet.until(async () =>
    /ReferenceNotAccepted: .*--accept-references=configmaps,secrets/.test(await message("a")),
  );
  expect(await copies(secrets)).toEqual([]);
});

const eventsOf = async (job: string) =>
  (await fleet.hub.api.list(events, { namespace: "default" })).items
    .filter(({ involvedObject }) => involvedObject.name === job)
    .map(({ message = "" }) => message);
const told = async (job: string, words: string) => (await eventsOf(job)).some((message) => message.includes(words));

/** Of a Job that runs. */
async function startWithCopy(): Promise<string> {
  await start({ behaviour: () => ({ runMs: 3_600_000 }) });
  await onHub("words", { greeting: "hello" });
  await submit("a", words);
  await running("a");
  const [copy] = await copies();
  return copy?.metadata.name ?? "";
}

async function replace(name: string, how: { labels?: Record<string, string>; data?: Record<string, string> }) {
  const { labels = {}, annotations = {} } = (await worker().get(configMaps, at(name))).metadata;
  await worker().delete(configMaps, at(name));
  await worker().create(configMaps, "default", {
    metadata: { name, annotations, labels: how.labels ?? labels },
    data: { greeting: "boo" },
    immutable: true,
  });
}

it("a copy that somebody deletes while a Job uses it comes back, and that Job is told", async () => {
  const name = await startWithCopy();
  await submit("other", using({}));
  await running("other");
  const { uid } = (await worker().get(configMaps, at(name))).metadata;
  await worker().delete(configMaps, at(name));
  await fleet.until(async () => (await copies()).length === 1, 5_000);
  expect(await copies()).toMatchObject([{ metadata: { name }, data: { greeting: "hello" }, immutable: true }]);
  expect((await copies())[0]?.metadata.uid).not.toBe(uid);
  await fleet.until(
    () => told("a", `ConfigMap default/${name}, a copy of the hub's default/words, was deleted`),
    5_000,
  );
  expect(await told("other", "was deleted")).toBe(false);
  await fleet.clock.advance(60_000);
  expect((await eventsOf("a")).filter((message) => message.includes("a copy of the hub's"))).toHaveLength(1);
});

it("a copy that somebody replaces while a Job uses it is made anew, and that Job is told", async () => {
  const name = await startWithCopy();
  await replace(name, {});
  await fleet.until(async () => (await copies())[0]?.data?.greeting === "hello", 10_000);
  await fleet.until(() => told("a", "was changed on this cluster; it is made anew"), 5_000);
  expect(JSON.stringify(await eventsOf("a"))).not.toContain("boo");
});

it("where the hub has other contents by now, the Job is told that its copy does not come back", async () => {
  const name = await startWithCopy();
  await editOnHub("words", { greeting: "goodbye" });
  await worker().delete(configMaps, at(name));
  await fleet.until(
    () => told("a", "could not be made anew, perhaps because the hub has other contents by now"),
    90_000,
  );
  expect(await copies()).toEqual([]);
});

it("what somebody else puts in the place of a copy is left alone, and the Job is told", async () => {
  const name = await startWithCopy();
  await replace(name, { labels: {} });
  await fleet.until(() => told("a", "by one that is not Jobferry's: delete that"), 10_000);
  expect((await worker().get(configMaps, at(name))).data).toEqual({ greeting: "boo" });
});

it("a copy that was replaced while no agent ran is found when one starts", async () => {
  const name = await startWithCopy();
  await fleet.stopAgent("only");
  await replace(name, {});
  fleet.startAgent("only");
  await fleet.until(async () => (await copies())[0]?.data?.greeting === "hello", 60_000);
  await fleet.until(() => told("a", "was changed on this cluster; it is made anew"), 5_000);
});

it("a copy that somebody replaced is made anew for the next Job, which is told so", async () => {
  await start({ behaviour: () => ({ runMs: 60_000 }) });
  await onHub("words", { greeting: "hello" });
  await submit("a", words);
  await running("a");
  const [copy] = await copies();
  const { name = "", labels = {}, annotations = {} } = copy?.metadata ?? {};
  await worker().delete(configMaps, at(name));
  await worker().create(configMaps, "default", {
    ...copy,
    metadata: { name, labels, annotations },
    data: { greeting: "boo" },
  });
  await submit("b", words);
  await running("b");
  expect((await copies()).map(({ data }) => data)).toEqual([{ greeting: "hello" }]);
  const { items } = await fleet.hub.api.list({
    group: "",
    version: "v1",
    plural: "events",
    kind: "Event",
    namespaced: true,
  });
  expect(JSON.stringify(items)).toContain("was changed on this cluster; it is made anew");
  expect(JSON.stringify(items)).not.toContain("boo");
});

it("a Job whose cluster is lost has its copies where it goes; those that it left behind go when the cluster is back", async () => {
  await start({ workers: ["east", "west"], behaviour: () => ({ runMs: 36_000_000 }) });
  await onHub("words", { greeting: "hello" });
  const data = { k: "eA==" };
  await fleet.hub.api.create(secrets, "default", { metadata: { name: "login" }, data });
  await submit("a", using({ envFrom: [{ configMapRef: { name: "words" } }, { secretRef: { name: "login" } }] }));
  await running("a");
  const from = (await fleet.job("a"))?.metadata.annotations?.[CLUSTER] ?? "";
  const to = from === "east" ? "west" : "east";
  const count = async (cluster: string) => {
    const api = fleet.workers.get(cluster)?.cluster.api ?? fleet.hub.api;
    const found = await Promise.all([configMaps, secrets].map((kind) => api.list(kind, { labelSelector: COPY_LABEL })));
    return found.map(({ items }) => items.length);
  };
  await fleet.stopAgent(from);
  await fleet.until(async () => (await fleet.job("a"))?.metadata.annotations?.[CLUSTER] === to, 3_600_000);
  await fleet.until(async () => (await fleet.podsOn(to)) === 1, 60_000);
  expect([await count(from), await count(to)]).toEqual([
    [1, 1],
    [1, 1],
  ]);
  fleet.startAgent(from);
  await fleet.until(async () => (await count(from)).every((left) => left === 0), 300_000);
  expect(await count(to)).toEqual([1, 1]);
});

it("an agent without the right to copy says which file gives it", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  const message = 'configmaps is forbidden: User "agent" cannot get resource "configmaps" in API group ""';
  fleet.workers
    .get("only")
    ?.cluster.faults.inject(
      { client: "agent", resource: "configmaps" },
      { effect: "fail", code: 403, reason: "Forbidden", message },
      { times: Number.POSITIVE_INFINITY },
    );
  await submit("a", words);
  const said = async () => (await fleet.job("a"))?.metadata.annotations?.[MESSAGE] ?? "";
  await fleet.until(async () => (await said()).includes("ReferenceNotAccepted"), 60_000);
  expect(await said()).toContain(
    "the agent may not copy ConfigMap default/words: `kubectl apply -k deploy/worker`, or",
  );
});
