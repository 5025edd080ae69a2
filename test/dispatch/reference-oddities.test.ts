/** References that nobody thinks of, on a simulated fleet. */
import { jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { configMaps, events, jobs, secrets } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { COPY_HASH, COPY_LABEL, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { agentTransport } from "@jobferry/shared/queue/transport.ts";
import { generateMirrorKey, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

async function start(options: FleetOptions = {}): Promise<void> {
  fleet = await new Fleet({ workers: ["east"], behaviour: () => ({ runMs: 3_600_000 }), ...options }).start();
}
async function sendSecrets(): Promise<void> {
  const spec = { references: { secrets: "Copy" } } as const;
  await fleet.hub.api.create(jobQueues, undefined, { metadata: { name: "default" }, spec });
  await fleet.clock.advance(1_000);
}

const main = (fields: object): PodSpec => ({
  restartPolicy: "Never",
  containers: [{ name: "main", image: "busybox", ...fields }],
});
const reads = (...names: string[]) => main({ envFrom: names.map((name) => ({ configMapRef: { name } })) });
const at = (name: string) => ({ namespace: "default", name });
const onHub = (name: string, data: Record<string, string>) =>
  fleet.hub.api.create(configMaps, "default", { metadata: { name }, data });
const login = () => fleet.hub.api.create(secrets, "default", { metadata: { name: "login" }, data: { k: "eA==" } });
const worker = (name = "east") => {
  const found = fleet.workers.get(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const copies = async (cluster = "east") =>
  (await worker(cluster).cluster.api.list(configMaps, { labelSelector: COPY_LABEL })).items;
const submit = (name: string, spec: PodSpec, annotations: Record<string, string> = {}) =>
  fleet.submit(name, { template: { spec } }, { annotations });
const running = (name: string, limitMs = 60_000) =>
  fleet.until(async () => (await fleet.job(name))?.status?.active === 1, limitMs);
const said = async (name: string) => (await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? "";
const eventsOf = async (reason: string) =>
  (await fleet.hub.api.list(events, { namespace: "default" })).items.filter((event) => event.reason === reason);

/** Questions of agents get lost until the function that it returns is called. */
function loseQuestions(): () => void {
  let lost = true;
  fleet.bus.fate = ({ box }, text) => (box === "reports" && lost && text.length < 700 ? [] : [0]);
  return () => {
    lost = false;
  };
}
const mirrorsOf = async (...names: string[]) =>
  (await Promise.all(names.map((name) => fleet.mirrors(name)))).flat().length;

it("a key may have any name that Kubernetes allows", async () => {
  await start();
  const text = '{"9":"e","10":"d","-a..b":"f","__proto__":"a","constructor":"b"}';
  await onHub("odd", JSON.parse(text));
  await submit("j", reads("odd"));
  await running("j");
  expect((await copies()).map(({ data }) => JSON.stringify(data))).toEqual([text]);
});

it("long names that differ at their end have a copy each", async () => {
  await start();
  const [one, two] = ["1", "2"].map((end) => `${"n".repeat(252)}${end}`) as [string, string];
  for (const name of [one, two]) await onHub(name, { same: "contents" });
  await submit("j", reads(one));
  await submit("k", reads(two));
  await submit("l", reads(one, two));
  for (const name of ["j", "k", "l"]) await running(name);
  expect(await copies()).toHaveLength(2);
  expect(await eventsOf("CopyChanged")).toEqual([]);
});

it("what is optional runs without a copy on a cluster that takes none", async () => {
  await start();
  await sendSecrets();
  await login();
  await submit("pull", { ...main({}), imagePullSecrets: [{ name: "login" }] });
  await submit("env", main({ envFrom: [{ secretRef: { name: "login", optional: true } }] }));
  for (const name of ["pull", "env"]) await running(name);
  const [{ mirror } = { mirror: undefined }] = await fleet.mirrors("pull");
  expect(mirror?.spec.template.spec.imagePullSecrets, "the cluster may have one").toEqual([{ name: "login" }]);
  await submit("needed", main({ envFrom: [{ secretRef: { name: "login" } }] }));
  await fleet.until(async () => (await said("needed")).includes("takes no Secrets of the hub"), 60_000);
});

it("what is optional runs without a copy that the cluster does not store; what is needed is named", async () => {
  await start();
  await onHub("large", { text: "x" });
  worker().cluster.faults.inject(
    { client: "agent", resource: "configmaps", verb: "create" },
    { effect: "fail", code: 413, reason: "RequestEntityTooLarge", message: "too large" },
    { times: Number.POSITIVE_INFINITY },
  );
  const volumes = (optional: boolean) => [{ name: "large", configMap: { name: "large", optional } }];
  await submit("optional", { ...main({}), volumes: volumes(true) });
  await submit("needed", { ...main({}), volumes: volumes(false) });
  await running("optional");
  const words = "ConfigMap default/large cannot be copied: too large";
  await fleet.until(async () => (await said("needed")).includes(words), 60_000);
});

it("contents that go while they are under way keep the Job from beginning without them", async () => {
  await start();
  const find = loseQuestions();
  await onHub("words", { greeting: "hello" });
  // A Job that was given less would use it.
  await worker().cluster.api.create(configMaps, "default", { metadata: { name: "words" }, data: { greeting: "own" } });
  await submit("j", reads("words"));
  await fleet.until(async () => (await mirrorsOf("j")) === 1, 60_000);
  await fleet.hub.api.delete(configMaps, at("words"));
  find();
  await fleet.until(
    async () => (await said("j")).startsWith("waiting: ConfigMap default/words does not exist"),
    60_000,
  );
  expect(await fleet.podsOn("east")).toBe(0);
  expect(await mirrorsOf("j")).toBe(0);
  await onHub("words", { greeting: "bye" });
  await running("j");
  expect((await copies()).map(({ data }) => data?.greeting)).toEqual(["bye"]);
});

it("a manager that starts while contents are gone does not let the Job begin without them", async () => {
  await start();
  const find = loseQuestions();
  await onHub("words", { greeting: "hello" });
  await worker().cluster.api.create(configMaps, "default", { metadata: { name: "words" }, data: { greeting: "own" } });
  await submit("j", reads("words"));
  await fleet.until(async () => (await mirrorsOf("j")) === 1, 60_000);
  await fleet.stopManager();
  await fleet.hub.api.delete(configMaps, at("words"));
  fleet.startManager();
  await fleet.clock.advance(5_000);
  find();
  await fleet.until(
    async () => (await said("j")).startsWith("waiting: ConfigMap default/words does not exist"),
    60_000,
  );
  expect(await fleet.podsOn("east")).toBe(0);
  await onHub("words", { greeting: "bye" });
  await running("j");
  expect((await copies()).map(({ data }) => data?.greeting)).toEqual(["bye"]);
});

it("a Job whose contents were asked for in the name of one that is deleted goes on within seconds", async () => {
  await start();
  const find = loseQuestions();
  await onHub("words", { greeting: "hello" });
  for (const name of ["j", "k"]) await submit(name, reads("words"));
  await fleet.until(async () => (await mirrorsOf("j", "k")) === 2, 60_000);
  find();
  await fleet.hub.api.delete(jobs, at("j"));
  await running("k", 5_000);
});

it("what a Job with 50 references costs the API servers grows with them, not with their square", async () => {
  await start();
  const reads = { hub: 0, east: 0 };
  const count = (where: keyof typeof reads) => {
    const cluster = where === "hub" ? fleet.hub : worker().cluster;
    const when = () => {
      reads[where]++;
      return false;
    };
    cluster.faults.inject({ resource: "configmaps", verb: "get", when }, { effect: "drop" });
  };
  const names = Array.from({ length: 50 }, (_, index) => `m${index}`);
  for (const name of names) await onHub(name, { name });
  count("hub");
  count("east");
  await submit("j", { ...main({}), volumes: names.map((name) => ({ name, configMap: { name } })) });
  await running("j");
  await fleet.clock.advance(30_000);
  // One to list and one to send; one before, one after, and one by whoever watches over the copy.
  expect(reads.hub).toBe(2 * 50);
  expect(reads.east).toBeLessThanOrEqual(3 * 50);
});

it("a copy that was made under the manager's former key comes back, too", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  await submit("j", reads("words"));
  await running("j");
  const next = generateKeyPair();
  await fleet.stopManager();
  await fleet.stopAgent("east");
  fleet.startAgent("east", { managerKeys: [next.publicKey, fleet.managerKeys.publicKey] });
  fleet.startManager([next, fleet.managerKeys]);
  await fleet.clock.advance(30_000);
  const [copy] = await copies();
  await worker().cluster.api.delete(configMaps, at(copy?.metadata.name ?? ""));
  await fleet.until(async () => (await copies()).length === 1, 60_000);
  expect((await copies()).map(({ metadata }) => metadata.name)).toEqual([copy?.metadata.name]);
});

it("a copy that goes while no agent runs comes back, and the Job is told; or that it cannot", async () => {
  await start();
  for (const name of ["words", "edited"]) {
    await onHub(name, { greeting: "hello", name });
    await submit(name, reads(name));
    await running(name);
  }
  await fleet.stopAgent("east");
  for (const { metadata } of await copies()) await worker().cluster.api.delete(configMaps, at(metadata.name ?? ""));
  await fleet.hub.api.patch(configMaps, at("edited"), { type: "merge", body: { data: { greeting: "bye" } } });
  fleet.startAgent("east");
  const told = async () => (await eventsOf("CopyChanged")).map(({ message = "" }) => message).sort();
  await fleet.until(async () => (await told()).length === 2, 60_000);
  expect(await told()).toEqual([
    expect.stringMatching(
      /Job edited: ConfigMap default\/edited-.*, a copy of the hub's default\/edited, was deleted on this cluster and could not be made anew/,
    ),
    expect.stringMatching(
      /Job words: ConfigMap default\/words-.*, a copy of the hub's default\/words, was deleted on this cluster; it is made anew/,
    ),
  ]);
  await fleet.until(async () => (await copies()).length === 1, 30_000);
});

it("an agent that is started anew says nothing of copies that are as they were", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  await submit("j", reads("words"));
  await running("j");
  await fleet.stopAgent("east");
  await fleet.hub.api.patch(configMaps, at("words"), { type: "merge", body: { data: { greeting: "bye" } } });
  fleet.startAgent("east");
  await fleet.clock.advance(60_000);
  expect(await eventsOf("CopyChanged")).toEqual([]);
});

it("a new mirror key leaves copies as they are, also when the former one goes and the hub has other contents", async () => {
  await start();
  await onHub("words", { greeting: "hello" });
  await submit("j", reads("words"));
  await running("j");
  const [former] = worker().mirrorKeys;
  const [next] = parseMirrorKeys(generateMirrorKey());
  const uids = async () => (await copies()).map(({ metadata }) => metadata.uid);
  const before = await uids();
  await fleet.hub.api.patch(configMaps, at("words"), { type: "merge", body: { data: { greeting: "bye" } } });
  for (const mirrorKeys of [[next, former], [next]] as const) {
    await fleet.stopAgent("east");
    fleet.startAgent("east", { mirrorKeys });
    await fleet.clock.advance(60_000);
  }
  expect([await uids(), await eventsOf("CopyChanged")]).toEqual([before, []]);
});

it("an agent gets nothing that was listed to another cluster, or would be listed today", async () => {
  const refused: string[] = [];
  await start({ workers: ["east", "west"], onRefused: (cluster, code) => refused.push(`${cluster} ${code}`) });
  await onHub("words", { greeting: "hello" });
  await login();
  const on = (cluster: string) => ({ "jobferry.dev/cluster-selector": `name=${cluster}` });
  const spec = main({
    envFrom: [{ configMapRef: { name: "words" } }, { secretRef: { name: "login", optional: true } }],
  });
  const { metadata } = await submit("east", spec, on("east"));
  await running("east");
  await fleet.hub.api.patch(configMaps, at("words"), { type: "merge", body: { data: { greeting: "bye" } } });
  await submit("west", spec, on("west"));
  await running("west");
  const [copy] = await copies("west");
  await fleet.stopAgent("east");
  // From now on Secrets travel; what was delivered before listed none.
  await sendSecrets();
  const sent: number[] = [];
  fleet.bus.fate = ({ box, cluster }, text) => {
    if (box === "deliveries" && cluster === "east") sent.push(text.length);
    return [0];
  };
  const hostile = agentTransport({
    ...{ bus: fleet.bus, cluster: parseClusterName("east"), keys: [worker().keys] },
    managerKeys: [fleet.managerKeys.publicKey],
  });
  refused.length = 0;
  const about = { kind: "ask", uid: hubUid.parse(metadata.uid), epoch: epoch.parse(1) } as const;
  const hash = copy?.metadata.annotations?.[COPY_HASH] ?? "";
  await hostile.sendReport({ ...about, references: [{ kind: "ConfigMap", name: "words", hash }] });
  await hostile.sendReport({ ...about, references: [{ kind: "Secret", name: "login", hash }] });
  await fleet.clock.advance(5_000);
  expect([refused, sent]).toEqual([["east report/not-listed", "east report/not-listed"], []]);
});
