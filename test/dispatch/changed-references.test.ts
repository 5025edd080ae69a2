/** Jobs that move while what they took along changes on the hub, on a simulated fleet. */
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { configMaps, events, pods, secrets } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, COPY_LABEL, MESSAGE, ON_REFERENCE_CHANGE, TAKEN } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const spec: PodSpec = {
  restartPolicy: "Never",
  containers: [{ name: "main", image: "busybox", envFrom: [{ configMapRef: { name: "words" } }] }],
};
const words = { namespace: "default", name: "words" };
const edit = (greeting: string) =>
  fleet.hub.api.patch(configMaps, words, { type: "merge", body: { data: { greeting } } });
const annotation = async (key: string) => (await fleet.job("j"))?.metadata.annotations?.[key] ?? "";
const configure = (cluster: string, body: object) =>
  fleet.hub.api.patch(workerClusters, { name: cluster }, { type: "merge", body: { spec: body } });
const runs = (cluster: string) =>
  fleet.until(
    async () => (await annotation(CLUSTER)) === cluster && (await fleet.job("j"))?.status?.active === 1,
    120_000,
  );
/** What the copies on a cluster say, of which a Job with one ConfigMap has one. */
const greetings = async (cluster: string) =>
  (await fleet.workers.get(cluster)?.cluster.api.list(configMaps, { labelSelector: COPY_LABEL }))?.items.map(
    ({ data }) => data?.greeting,
  );
const changes = async () =>
  (await fleet.hub.api.list(events, { namespace: "default" })).items.filter(
    ({ reason }) => reason === "ReferencesChanged",
  );

/** A Job that runs on east; west takes none yet. */
async function start(onChange?: "Use" | "Wait", annotations: Record<string, string> = {}): Promise<void> {
  fleet = await new Fleet({ behaviour: () => ({ runMs: 3_600_000 }) }).start();
  if (onChange !== undefined)
    await fleet.hub.api.create(jobQueues, undefined, {
      metadata: { name: "default" },
      spec: { references: { onChange } },
    });
  await configure("west", { cordoned: true });
  await fleet.clock.advance(1_000);
  await fleet.hub.api.create(configMaps, "default", { metadata: { name: "words" }, data: { greeting: "hello" } });
  await fleet.submit("j", { template: { spec } }, { annotations });
  await runs("east");
}

async function move(): Promise<void> {
  await configure("west", { cordoned: false });
  await configure("east", { drain: true });
}

it("a Job that moves takes what the hub has by then, and says so", async () => {
  await start();
  expect(await annotation(TAKEN)).toMatch(/^ConfigMap\/words:[0-9a-f]{10}$/);
  await edit("goodbye");
  await fleet.clock.advance(60_000);
  expect(await greetings("east"), "what runs keeps what it began with").toEqual(["hello"]);
  await move();
  await runs("west");
  expect(await greetings("west")).toEqual(["goodbye"]);
  expect((await changes()).map(({ message }) => message)).toEqual([
    "ConfigMap default/words changed on the hub since the Job was last dispatched; it goes on with the new contents",
  ]);
});

it("a Job that moves with the same contents says nothing of them", async () => {
  await start("Wait");
  await move();
  await runs("west");
  expect(await changes()).toEqual([]);
});

it("a pod that is retried on the same cluster keeps the snapshot", async () => {
  await start("Wait");
  await edit("goodbye");
  const api = fleet.workers.get("east")?.cluster.api ?? fleet.hub.api;
  const [first] = (await api.list(pods, { namespace: "default" })).items;
  await api.delete(pods, { namespace: "default", name: first?.metadata.name ?? "" });
  await fleet.until(async () => {
    const { items } = await api.list(pods, { namespace: "default" });
    return items.some(({ metadata, status }) => metadata.uid !== first?.metadata.uid && status?.phase === "Running");
  }, 60_000);
  expect(await greetings("east")).toEqual(["hello"]);
  expect(await annotation(CLUSTER)).toBe("east");
});

it("suspended, edited and resumed on the same cluster, it keeps the snapshot", async () => {
  await start("Wait");
  await fleet.edit("j", { spec: { suspend: true } });
  await fleet.until(async () => ((await fleet.job("j"))?.status?.active ?? 0) === 0, 60_000);
  await edit("goodbye");
  await fleet.edit("j", { spec: { template: { metadata: { labels: { edited: "yes" } } } } });
  await fleet.edit("j", { spec: { suspend: false } });
  await runs("east");
  expect(await greetings("east")).toEqual(["hello"]);
  const { items } = (await fleet.workers.get("east")?.cluster.api.list(pods, { namespace: "default" })) ?? {
    items: [],
  };
  expect(items.map(({ metadata }) => metadata.labels?.edited)).toContain("yes");
});

it("with Wait it waits, says how to go on, and does", async () => {
  await start("Wait");
  await edit("goodbye");
  await move();
  await fleet.until(
    async () => (await annotation(MESSAGE)).startsWith("waiting: ConfigMap default/words changed"),
    60_000,
  );
  expect(await annotation(MESSAGE)).toContain(
    "kubectl annotate job j -n default --overwrite jobferry.dev/on-reference-change=Use",
  );
  await fleet.clock.advance(10 * 60_000);
  expect(await annotation(CLUSTER)).toBe("");
  await fleet.edit("j", { metadata: { annotations: { [ON_REFERENCE_CHANGE]: "Use" } } });
  await runs("west");
  expect(await greetings("west")).toEqual(["goodbye"]);
  expect(await changes()).toHaveLength(1);
});

it("with Wait it goes on when the contents are put back", async () => {
  await start(undefined, { [ON_REFERENCE_CHANGE]: "Wait" });
  await edit("goodbye");
  await move();
  await fleet.until(async () => (await annotation(MESSAGE)).includes("changed on the hub"), 60_000);
  await edit("hello");
  await runs("west");
  expect(await changes()).toEqual([]);
});

it("a change while the contents are under way to the next cluster is found, too", async () => {
  await start("Wait");
  let lost = true;
  // Questions of west get lost: its mirror waits for its copy.
  fleet.bus.fate = ({ box, cluster }, text) =>
    box === "reports" && cluster === "west" && lost && text.length < 700 ? [] : [0];
  await move();
  await fleet.until(async () => (await fleet.mirrors("j")).some(({ cluster }) => cluster === "west"), 120_000);
  await edit("goodbye");
  lost = false;
  await fleet.until(
    async () => (await annotation(MESSAGE)).startsWith("waiting: ConfigMap default/words changed"),
    180_000,
  );
  expect(await greetings("west")).toEqual([]);
  await edit("hello");
  await fleet.until(async () => (await fleet.job("j"))?.status?.active === 1, 1_200_000);
});

it("a Job that was refused everywhere has used nothing: it begins with what the hub has then", async () => {
  await start("Wait");
  const login = { ...spec, volumes: [{ name: "login", secret: { secretName: "login" } }] };
  await fleet.submit("k", { template: { spec: login } });
  const message = async () => (await fleet.job("k"))?.metadata.annotations?.[MESSAGE] ?? "";
  await fleet.until(async () => (await message()).includes("Secret default/login does not exist"), 60_000);
  await edit("goodbye");
  const api = fleet.workers.get("east")?.cluster.api ?? fleet.hub.api;
  await api.create(secrets, "default", { metadata: { name: "login" } });
  await fleet.until(async () => (await fleet.job("k"))?.status?.active === 1, 60_000);
  expect((await greetings("east"))?.sort()).toEqual(["goodbye", "hello"]);
});
