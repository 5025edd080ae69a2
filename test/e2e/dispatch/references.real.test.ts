/** ConfigMaps and Secrets travel with Jobs on real control planes, with just the rights of deploy/. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import { COPY_LABEL, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { outputOf } from "../../harness/run-command.ts";
import { type FleetNamespace, forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";

const JOB_QUEUE = { apiVersion: "jobferry.dev/v1alpha1", kind: "JobQueue" };
const ACCEPT = "--accept-references=configmaps,secrets";
const fleet = new RealFleet({ workers: ["east"], agentFlags: [ACCEPT, "--retention-seconds=0"] });
/** In nobody's log, and in nothing that Redis holds or hears of. */
const PLANTED = "planted-secret-8f1c2e7a";
const PLANTED_FORMS = [PLANTED, Buffer.from(PLANTED).toString("base64"), Buffer.from(PLANTED).toString("hex")];

beforeAll(async () => {
  await fleet.start();
  await outputOf(fleet.worker("east").kubectl("apply", "-f", "deploy/worker/secrets.yaml"));
  const queue: JobQueue = { ...JOB_QUEUE, metadata: { name: "sealed" }, spec: { references: { secrets: "Copy" } } };
  await fleet.hub.api.create(jobQueues, undefined, queue);
}, 300_000);
afterAll(() => fleet.stop());

const sealed = { [QUEUE_LABEL]: "sealed" };
const allow = ({ name }: FleetNamespace) =>
  outputOf(
    fleet.hub.kubectl(
      ...["create", "rolebinding", "jobferry-references", "-n", name, "--clusterrole=jobferry-references"],
      "--serviceaccount=jobferry-system:jobferry-manager",
    ),
  );
const copies = async <T extends KubeObject>({ mapped }: FleetNamespace, resource: Resource<T>): Promise<T[]> =>
  (await fleet.worker("east").api.list(resource, { namespace: mapped, labelSelector: COPY_LABEL })).items;
const main = (fields: object): Partial<PodSpec> => ({ containers: [{ name: "main", image: "none", ...fields }] });

it.concurrent("every way to refer to a ConfigMap or Secret: copied, referred to by the pod, gone with the last mirror", async () => {
  const at = await fleet.namespace("ways");
  await allow(at);
  const { api } = fleet.hub;
  const bytes = Buffer.from([0, 1, 254, 255]).toString("base64");
  const text = (value: string) => Buffer.from(value).toString("base64");
  await api.create(configMaps, at.name, { metadata: { name: "env" }, data: { A: "1" } });
  await api.create(configMaps, at.name, { metadata: { name: "files" }, data: { a: "1" }, binaryData: { b: bytes } });
  const login = text(JSON.stringify({ auths: {} }));
  await api.create(secrets, at.name, {
    metadata: { name: "pull" },
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": login },
  });
  for (const name of ["key", "vol", "proj", "init", "side"])
    await api.create(secrets, at.name, { metadata: { name }, data: { k: text(`${name}-${PLANTED}`) } });
  const key = (name: string) => ({ name: name.toUpperCase(), valueFrom: { secretKeyRef: { name, key: "k" } } });
  const spec: Partial<PodSpec> = {
    ...main({
      env: [key("key")],
      envFrom: [{ configMapRef: { name: "env" } }, { secretRef: { name: "absent", optional: true } }],
      volumeMounts: [{ name: "files", mountPath: "/etc/a", subPath: "a" }],
    }),
    initContainers: [
      { name: "init", image: "none", env: [key("init")] },
      { name: "side", image: "none", restartPolicy: "Always", env: [key("side")] },
    ],
    volumes: [
      { name: "files", configMap: { name: "files", defaultMode: 0o400 } },
      { name: "vol", secret: { secretName: "vol" } },
      { name: "proj", projected: { sources: [{ secret: { name: "proj" } }] } },
    ],
    imagePullSecrets: [{ name: "pull" }],
  };
  for (const name of ["one", "two"]) await at.submit(name, { labels: sealed, pod: { ...forever, spec } });
  for (const name of ["one", "two"]) await at.untilActive(name, 1);
  expect((await copies(at, configMaps)).map(({ metadata }) => metadata.name?.slice(0, -10)).sort()).toEqual([
    "env-",
    "files-",
  ]);
  expect((await copies(at, configMaps)).find(({ binaryData }) => binaryData !== undefined)?.binaryData).toEqual({
    b: bytes,
  });
  const copied = await copies(at, secrets);
  expect(copied.map(({ metadata }) => metadata.name?.slice(0, -11)).sort()).toEqual([
    "init",
    "key",
    "proj",
    "pull",
    "side",
    "vol",
  ]);
  for (const { immutable } of copied) expect(immutable).toBe(true);
  expect(copied.find(({ type }) => type === "kubernetes.io/dockerconfigjson")?.data).toEqual({
    ".dockerconfigjson": login,
  });
  const [{ pod } = { pod: undefined }] = await at.pods("one");
  const named = JSON.stringify(pod?.spec);
  for (const { metadata } of [...copied, ...(await copies(at, configMaps))])
    expect(named).toContain(`"${metadata.name}"`);
  await at.end("one", 0);
  await at.untilFinished("one");
  await at.untilNothingIsLeft("one");
  expect(await copies(at, secrets), "the other Job still uses them").toHaveLength(6);
  await at.delete("two");
  await at.untilGone("two");
  await at.until("no copy is left", async () => {
    return (await copies(at, secrets)).length + (await copies(at, configMaps)).length === 0;
  });
});

it.concurrent("without the RoleBinding the manager reads no Secret: the Job says which, and goes on once it is bound", async () => {
  const at = await fleet.namespace("unbound");
  await fleet.hub.api.create(secrets, at.name, { metadata: { name: "login" }, data: { k: "eA==" } });
  await at.submit("j", { labels: sealed, pod: { spec: main({ envFrom: [{ secretRef: { name: "login" } }] }) } });
  await at.untilMessage("j", /Secret unbound\/login may not be read by the manager: kubectl create rolebinding/);
  expect(await copies(at, secrets)).toEqual([]);
  await allow(at);
  expect((await at.untilFinished("j")).status?.succeeded).toBe(1);
});

it.concurrent("a Secret of 1 MiB and 50 references in one Job", async () => {
  const at = await fleet.namespace("large");
  await allow(at);
  const large = { k: Buffer.alloc(1_048_576 - 1, 7).toString("base64") };
  await fleet.hub.api.create(secrets, at.name, { metadata: { name: "large" }, data: large });
  const names = Array.from({ length: 49 }, (_, index) => `m${index}`);
  for (const name of names) await fleet.hub.api.create(configMaps, at.name, { metadata: { name }, data: { name } });
  const volumes = [
    { name: "large", secret: { secretName: "large" } },
    ...names.map((name) => ({ name, configMap: { name } })),
  ];
  await at.submit("j", { labels: sealed, pod: { ...forever, spec: { volumes } } });
  await at.untilActive("j", 1);
  expect((await copies(at, secrets)).map(({ data }) => data)).toEqual([large]);
  expect((await copies(at, configMaps)).map(({ data }) => data?.name).sort()).toEqual(names.sort());
  await at.delete("j");
});

it.concurrent("an agent that is killed while it makes copies leaves none behind", async () => {
  const at = await fleet.namespace("killed");
  const names = Array.from({ length: 40 }, (_, index) => `m${index}`);
  for (const name of names) await fleet.hub.api.create(configMaps, at.name, { metadata: { name }, data: { name } });
  const volumes = names.map((name) => ({ name, configMap: { name } }));
  await at.submit("j", { pod: { ...forever, spec: { volumes } } });
  await at.until("the first copies are there", async () => (await copies(at, configMaps)).length > 0);
  await fleet.kill("east");
  await at.delete("j");
  fleet.startAgent("east");
  await at.untilGone("j");
  await at.until("no copy is left", async () => (await copies(at, configMaps)).length === 0);
});

it("contents are in no log, event or annotation, and Redis neither hears nor keeps them", async () => {
  const at = await fleet.namespace("planted");
  await allow(at);
  const heard: string[] = [];
  const monitor = await fleet.redis.monitor();
  monitor.on("monitor", (_time: string, args: string[]) => heard.push(args.join(" ")));
  const data = { k: Buffer.from(PLANTED).toString("base64") };
  await fleet.hub.api.create(secrets, at.name, { metadata: { name: "login" }, data });
  await at.submit("j", {
    labels: sealed,
    pod: { ...forever, spec: main({ envFrom: [{ secretRef: { name: "login" } }] }) },
  });
  await at.untilActive("j", 1);
  expect((await copies(at, secrets)).map((copy) => copy.data)).toEqual([data]);
  monitor.disconnect();
  const dump: string[] = [];
  for (const key of await fleet.redis.keys("*"))
    dump.push((await fleet.redis.dumpBuffer(key))?.toString("latin1") ?? "");
  const { mirror } = await at.mirror("j");
  const places = {
    "what Redis heard": heard.join("\n"),
    "what Redis keeps": dump.join("\n"),
    "the manager's log": await fleet.log("manager"),
    "the agent's log": await fleet.log("east"),
    "the hub Job and its events": JSON.stringify([await at.job("j"), await at.events("j")]),
    "the mirror": JSON.stringify(mirror),
  };
  expect(heard.length).toBeGreaterThan(10);
  for (const [place, text] of Object.entries(places))
    for (const form of PLANTED_FORMS) expect(text.includes(form), `${form} in ${place}`).toBe(false);
});

it("needed nothing that the deployed rights do not give", async () => {
  for (const name of ["manager", "east"]) expect(await fleet.log(name)).not.toMatch(/cannot \w+ resource|NOPERM/i);
});
