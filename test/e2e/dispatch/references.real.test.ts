/** ConfigMaps and Secrets travel with Jobs on real control planes, with just the rights of deploy/. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { configMaps, namespaces, secrets } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { outputOf } from "../../harness/run-command.ts";
import { FleetNamespace, forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";
import { allowSecrets, copiesOn, on, onEast, sealed } from "./reference-fleet.ts";
import { referenceOddities } from "./reference-oddities.ts";
import { referenceSecrecy } from "./reference-secrecy.ts";
import { referenceWays } from "./reference-ways.ts";

const JOB_QUEUE = { apiVersion: "jobferry.dev/v1alpha1", kind: "JobQueue" };
/** East takes everything. West takes no Secrets, and its agent has rights in single namespaces only. */
const fleet = new RealFleet({
  workers: ["east", "west"],
  agentFlags: ["--retention-seconds=0"],
  flagsOf: {
    east: [
      "--accept-references=configmaps,secrets",
      ...["--create-namespaces=labelled", "--namespace-pattern=made-*", "--namespace-pod-security=restricted"],
    ],
  },
});
beforeAll(async () => {
  await fleet.start();
  const [east, west] = [fleet.worker("east"), fleet.worker("west")];
  for (const file of ["secrets", "namespaces"])
    await outputOf(east.kubectl("apply", "-f", `deploy/worker/${file}.yaml`));
  // As deploy/worker-roles leaves it.
  await outputOf(west.kubectl("delete", "clusterrolebinding", "jobferry-agent-jobs"));
  const queue = (name: string, references: NonNullable<JobQueue["spec"]>["references"]): JobQueue => ({
    ...JOB_QUEUE,
    metadata: { name },
    spec: references === undefined ? {} : { references },
  });
  await fleet.hub.api.create(jobQueues, undefined, queue("sealed", { secrets: "Copy" }));
  await fleet.hub.api.create(jobQueues, undefined, queue("careful", { onChange: "Wait" }));
}, 300_000);
afterAll(() => fleet.stop());

const main = (fields: object): Partial<PodSpec> => ({ containers: [{ name: "main", image: "none", ...fields }] });
const copies = <T extends KubeObject>(at: FleetNamespace, resource: Resource<T>) => copiesOn(at, "east", resource);
const allow = (at: FleetNamespace) => allowSecrets(fleet, at);
/** On west, where the agent has rights once somebody binds it. */
const bind = (namespace: string) =>
  outputOf(fleet.worker("west").kubectl("apply", "-k", "deploy/worker-roles/namespace", "-n", namespace));
const onHub = (at: FleetNamespace, name: string, data: Record<string, string>) =>
  fleet.hub.api.create(configMaps, at.name, { metadata: { name }, data });
const envFrom = (name: string): Partial<PodSpec> => main({ envFrom: [{ configMapRef: { name } }] });
const told = (at: FleetNamespace, job: string, words: string) =>
  at.until(`${job} is told: ${words}`, async () =>
    (await at.events(job)).some(({ message = "" }) => message.includes(words)),
  );
const explain = async ({ name: namespace }: FleetNamespace, job: string): Promise<string> =>
  fleet.jobferry("explain", job, "--namespace", namespace, "--kubeconfig", fleet.hub.kubeconfigPath);

referenceWays(fleet);
referenceOddities(fleet);

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
    await api.create(secrets, at.name, { metadata: { name }, data: { k: text(name) } });
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
  for (const name of ["one", "two"]) await at.submit(name, { ...onEast, labels: sealed, pod: { ...forever, spec } });
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
  await at.submit("j", {
    ...onEast,
    labels: sealed,
    pod: { spec: main({ envFrom: [{ secretRef: { name: "login" } }] }) },
  });
  await at.untilMessage("j", /Secret unbound\/login may not be read by the manager: kubectl create rolebinding/);
  expect(await copies(at, secrets)).toEqual([]);
  await allow(at);
  expect((await at.untilFinished("j")).status?.succeeded).toBe(1);
});

it.concurrent("a Secret and a ConfigMap of 1 MiB, 50 references in one Job, and one with too many", async () => {
  const at = await fleet.namespace("large");
  await allow(at);
  const large = { k: Buffer.alloc(1_048_576 - 1, 7).toString("base64") };
  await fleet.hub.api.create(secrets, at.name, { metadata: { name: "large" }, data: large });
  const bytes = { b: Buffer.alloc(1_048_576 - 1, 255).toString("base64") };
  await fleet.hub.api.create(configMaps, at.name, { metadata: { name: "bytes" }, binaryData: bytes });
  const names = Array.from({ length: 48 }, (_, index) => `m${index}`);
  for (const name of names) await fleet.hub.api.create(configMaps, at.name, { metadata: { name }, data: { name } });
  const volumes = [
    { name: "large", secret: { secretName: "large" } },
    { name: "bytes", configMap: { name: "bytes" } },
    ...names.map((name) => ({ name, configMap: { name } })),
  ];
  await at.submit("j", { ...onEast, labels: sealed, pod: { ...forever, spec: { volumes } } });
  await at.untilActive("j", 1);
  expect((await copies(at, secrets)).map(({ data }) => data)).toEqual([large]);
  const copied = await copies(at, configMaps);
  expect(copied.flatMap(({ data }) => data?.name ?? []).sort()).toEqual(names.sort());
  expect(copied.find(({ binaryData }) => binaryData !== undefined)?.binaryData).toEqual(bytes);
  const many = Array.from({ length: 257 }, (_, index) => ({ name: `v${index}`, configMap: { name: `n${index}` } }));
  await at.submit("many", { ...onEast, pod: { spec: { volumes: many } } });
  await at.untilMessage("many", /waiting: refers to more than 256 ConfigMaps and Secrets: use fewer/);
  for (const name of ["j", "many"]) await at.delete(name);
});

it.concurrent("an agent that is killed while it makes copies leaves none behind", async () => {
  const at = await fleet.namespace("killed");
  await allow(at);
  const names = Array.from({ length: 20 }, (_, index) => `m${index}`);
  for (const name of names) {
    await onHub(at, name, { name });
    await fleet.hub.api.create(secrets, at.name, { metadata: { name }, data: { name: "eA==" } });
  }
  const volumes = names.flatMap((name) => [
    { name, configMap: { name } },
    { name: `s-${name}`, secret: { secretName: name } },
  ]);
  await at.submit("j", { ...onEast, labels: sealed, pod: { ...forever, spec: { volumes } } });
  const count = async () => (await copies(at, configMaps)).length + (await copies(at, secrets)).length;
  await at.until("the first copies are there", async () => (await count()) > 0);
  await fleet.kill("east");
  await at.delete("j");
  fleet.startAgent("east");
  await at.untilGone("j");
  await at.until("no copy is left", async () => (await count()) === 0);
});

it.concurrent("a copy that somebody deletes or replaces comes back; the Jobs that use it are told, and no others", async () => {
  const at = await fleet.namespace("tampered");
  await onHub(at, "words", { greeting: "hello" });
  await onHub(at, "others", { greeting: "hi" });
  for (const name of ["words", "others"])
    await at.submit(name, { ...onEast, pod: { ...forever, spec: envFrom(name) } });
  for (const name of ["words", "others"]) await at.untilActive(name, 1);
  const { kubectl, api } = fleet.worker("east");
  const copy = async () => (await copies(at, configMaps)).find(({ metadata }) => metadata.name?.startsWith("words-"));
  const genuine = await copy();
  const name = genuine?.metadata.name ?? "";
  expect((await kubectl("patch", "configmap", name, "-n", at.name, "-p", '{"data":{"greeting":"boo"}}')).code).toBe(1);
  await outputOf(kubectl("delete", "configmap", name, "-n", at.name));
  await at.until("it is made anew", async () => (await copy())?.data?.greeting === "hello");
  await told(
    at,
    "words",
    `ConfigMap tampered/${name}, a copy of the hub's tampered/words, was deleted on this cluster`,
  );
  // Faster than the agent, who looks after a second.
  const { labels = {}, annotations = {} } = genuine?.metadata ?? {};
  await api.delete(configMaps, { namespace: at.name, name });
  const fake = { metadata: { name, labels, annotations }, data: { greeting: "boo" }, immutable: true };
  await api.create(configMaps, at.name, fake);
  await told(at, "words", "was changed on this cluster; it is made anew");
  await at.until("it is genuine again", async () => (await copy())?.data?.greeting === "hello");
  expect((await at.events("others")).filter(({ reason }) => reason === "CopyChanged")).toEqual([]);
  for (const job of ["words", "others"]) await at.delete(job);
});

it.concurrent("a namespace that matches is created when a Job comes, labelled and secured; others are not", async () => {
  for (const name of ["made-here", "not-made"])
    await fleet.hub.api.create(namespaces, undefined, { metadata: { name } });
  const [at, other] = [new FleetNamespace(fleet, "made-here"), new FleetNamespace(fleet, "not-made")];
  await onHub(at, "words", { greeting: "hello" });
  const runAsNonRoot = { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } };
  const container = {
    ...{ name: "main", image: "none", envFrom: [{ configMapRef: { name: "words" } }] },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
  await at.submit("j", { ...onEast, pod: { ...forever, spec: { ...runAsNonRoot, containers: [container] } } });
  await other.submit("j", onEast);
  await at.untilActive("j", 1);
  expect((await fleet.worker("east").api.get(namespaces, { name: "made-here" })).metadata.labels).toMatchObject({
    "jobferry.dev/accept": "enabled",
    "pod-security.kubernetes.io/enforce": "restricted",
  });
  // Pod Security is the API server's: what the agent would let through is stopped there.
  await at.submit("k", onEast);
  await told(at, "k", 'violates PodSecurity "restricted');
  await other.untilMessage("j", /NamespaceMissing: namespace not-made does not exist on this cluster; create it there/);
  for (const job of ["j", "k"]) await at.delete(job);
  await other.delete("j");
});

it.concurrent("an agent with rights in single namespaces copies there, is told of changes, and sweeps after a crash", async () => {
  const at = await fleet.namespace("bound");
  await onHub(at, "words", { greeting: "hello" });
  await at.submit("j", { ...on("west"), pod: { ...forever, spec: envFrom("words") } });
  await at.untilMessage("j", /may not copy ConfigMap bound\/words: .*-k deploy\/worker-roles\/namespace -n bound/);
  await bind("bound");
  await at.edit("j", { metadata: { annotations: { "jobferry.dev/retry": "bound" } } });
  await at.untilActive("j", 1);
  const west = () => copiesOn(at, "west", configMaps);
  const [copy] = await west();
  await outputOf(fleet.worker("west").kubectl("delete", "configmap", copy?.metadata.name ?? "", "-n", "bound"));
  await told(at, "j", "was deleted on this cluster; it is made anew");
  await at.until("it is back", async () => (await west()).length === 1);
  await fleet.kill("west");
  await outputOf(fleet.worker("west").kubectl("delete", "job", "j", "-n", "bound", "--wait=false"));
  await at.delete("j");
  expect(await west()).toHaveLength(1);
  fleet.startAgent("west");
  await at.until("what the crash left behind is gone", async () => (await west()).length === 0);
});

it.concurrent("jobferry explain says how it stands with each reference on each cluster", async () => {
  const at = await fleet.namespace("explained");
  await bind("explained");
  await allow(at);
  await onHub(at, "words", { greeting: "hello" });
  const both = main({ envFrom: [{ configMapRef: { name: "words" } }, { secretRef: { name: "login" } }] });
  const spec = { ...both, volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
  await at.submit("j", { labels: sealed, pod: { ...forever, spec } });
  await at.untilMessage("j", /Secret explained\/login does not exist on the hub/);
  expect(await explain(at, "j")).toContain("Secret explained/login: travels from the hub; missing on the hub");
  await fleet.hub.api.create(secrets, at.name, { metadata: { name: "login" }, data: { k: "eA==" } });
  await at.untilMessage("j", /east.*ReferenceMissing|ReferenceMissing.*east/);
  await at.untilMessage("j", /west.*ReferenceMissing|ReferenceMissing.*west/);
  expect(await explain(at, "j")).toMatch(/PersistentVolumeClaim explained\/data: must be on the worker; missing on/);
  for (const cluster of ["west", "east"]) {
    const claim = {
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data", namespace: "explained" } },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    await outputOf(fleet.worker(cluster).kubectlWith(JSON.stringify(claim), "create", "-f", "-"));
    if (cluster === "west") await told(at, "j", "ReferenceNotAccepted: this cluster takes no Secrets of the hub");
  }
  await at.untilActive("j", 1);
  const said = await explain(at, "j");
  expect(said).toContain("ConfigMap explained/words: travels from the hub; copied to east");
  expect(said).toMatch(/Secret explained\/login: travels from the hub;.* copied to east/);
  expect(said).toMatch(/Secret explained\/login: .*refused by west/);
  expect(said).toMatch(/PersistentVolumeClaim explained\/data: must be on the worker;.* found on east/);
  await at.delete("j");
});

it("a Job that moves reads again; with Wait it waits for what changed, and says how to go on", async () => {
  const at = await fleet.namespace("moves");
  await bind("moves");
  await onHub(at, "words", { greeting: "hello" });
  for (const name of ["use", "wait"]) {
    const labels = name === "wait" ? { "jobferry.dev/queue": "careful" } : {};
    await at.submit(name, { ...on("west"), labels, pod: { ...forever, spec: envFrom("words") } });
    await at.untilActive(name, 1);
  }
  await fleet.hub.api.patch(...([configMaps, { namespace: "moves", name: "words" }] as const), {
    type: "merge",
    body: { data: { greeting: "goodbye" } },
  });
  const anywhere = { metadata: { annotations: { "jobferry.dev/cluster-selector": "name=east" } } };
  for (const name of ["use", "wait"]) await at.edit(name, anywhere);
  await fleet.jobferry("cluster", "drain", "west", "--kubeconfig", fleet.hub.kubeconfigPath);
  await told(at, "use", "ConfigMap moves/words changed on the hub since the Job was last dispatched; it goes on");
  await at.untilMessage(
    "wait",
    /waiting: ConfigMap moves\/words changed .*kubectl annotate job wait -n moves --overwrite/,
  );
  expect(await explain(at, "wait")).toContain("ConfigMap moves/words: travels from the hub; changed on the hub since");
  await at.untilActive("use", 1);
  expect((await copies(at, configMaps)).map(({ data }) => data?.greeting)).toEqual(["goodbye"]);
  await outputOf(
    fleet.hub.kubectl(
      ...["annotate", "job", "wait", "-n", "moves", "--overwrite", "jobferry.dev/on-reference-change=Use"],
    ),
  );
  await at.untilActive("wait", 1);
  await fleet.jobferry("cluster", "uncordon", "west", "--kubeconfig", fleet.hub.kubeconfigPath);
  await at.until("west has no copy left", async () => (await copiesOn(at, "west", configMaps)).length === 0);
  for (const name of ["use", "wait"]) await at.delete(name);
});

referenceSecrecy(fleet);

it("needed nothing that the deployed rights do not give", async () => {
  for (const name of ["manager", "east"]) expect(await fleet.log(name)).not.toMatch(/cannot \w+ resource|NOPERM/i);
});
