/** The worker decides what it serves, whatever the hub lets its users submit. */
import type { JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs, namespaces, pods, serviceAccounts } from "@jobferry/shared/kube/resources.ts";
import { ACCEPT_LABEL, HUB_MANAGED_BY, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { type AcceptancePolicy, ALL_NAMESPACES } from "@jobferry/worker-agent/acceptance/acceptance.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

const labels = { [ACCEPT_LABEL]: "enabled" };
const main = { name: "main", image: "busybox" };
let fleet: Fleet;
let east: KubeApi;
afterEach(() => fleet.stop());

async function start(accept: Partial<AcceptancePolicy>): Promise<void> {
  fleet = await new Fleet({ workers: ["east"], accept: { ...ALL_NAMESPACES, ...accept } }).start();
  east = fleet.workers.get("east")?.cluster.api as KubeApi;
}

/** On both clusters; the hub's is there already where Kubernetes makes it. */
async function addNamespace(name: string): Promise<void> {
  for (const api of [fleet.hub.api, east])
    await api.create(namespaces, undefined, { metadata: { name } }).catch(() => {});
}

async function submit(namespace: string, name: string, pod: object = {}, spec: Partial<JobSpec> = {}): Promise<void> {
  const template = { spec: { restartPolicy: "Never" as const, containers: [main], ...pod } };
  await fleet.hub.api.create(jobs, namespace, {
    metadata: { name },
    spec: { managedBy: HUB_MANAGED_BY, ...spec, template: template as JobSpec["template"] },
  });
}

const untilSaid = (namespace: string, name: string, said: RegExp): Promise<void> =>
  fleet.until(async () => {
    const { metadata } = await fleet.hub.api.get(jobs, { namespace, name });
    return said.test(metadata.annotations?.[MESSAGE] ?? "");
  }, 120_000);

const untilDone = (namespace: string, name: string): Promise<void> =>
  fleet.until(async () => (await fleet.hub.api.get(jobs, { namespace, name })).status?.succeeded === 1);

const nothingIn = async (namespace: string): Promise<void> => {
  expect((await east.list(jobs, { namespace })).items).toEqual([]);
  expect((await east.list(pods, { namespace })).items).toEqual([]);
};

it("a namespace takes Jobs once it is labelled, and not before", async () => {
  await start({ namespaces: "labelled" });
  await addNamespace("team-a");
  await submit("team-a", "early");
  await untilSaid(
    "team-a",
    "early",
    /NamespaceNotAccepted: .*kubectl label namespace team-a jobferry.dev\/accept=enabled/,
  );
  await nothingIn("team-a");
  await east.patch(namespaces, { name: "team-a" }, { type: "merge", body: { metadata: { labels } } });
  await untilDone("team-a", "early");
});

const create = { patterns: ["team-*"], podSecurity: "baseline" } as const;
const onHub = (name: string) => fleet.hub.api.create(namespaces, undefined, { metadata: { name } });
const here = async (name: string) =>
  (await east.list(namespaces)).items.find(({ metadata }) => metadata.name === name)?.metadata.labels;

it.each([["labelled"], ["all"], [new Set(["team-a", "kube-team", "jobferry-system", "other"])]] as const)(
  "namespaces that match are created when a Job comes, where %s are served; others never are",
  async (served) => {
    await start({ namespaces: served, create });
    for (const name of ["team-a", "kube-team", "jobferry-system", "other"]) {
      await onHub(name);
      await submit(name, "j");
    }
    await untilDone("team-a", "j");
    expect(await here("team-a")).toMatchObject({
      "jobferry.dev/accept": "enabled",
      "pod-security.kubernetes.io/enforce": "baseline",
    });
    await untilSaid("other", "j", /NamespaceMissing: namespace other does not exist on this cluster; create it there/);
    for (const name of ["kube-team", "jobferry-system"])
      await untilSaid(name, "j", /no Job of a hub runs in namespace/);
    for (const name of ["kube-team", "jobferry-system", "other"]) expect(await here(name)).toBeUndefined();
  },
);

it("a pattern for everything creates no system namespace, and a namespace that is there keeps its labels", async () => {
  await start({ namespaces: "labelled", create: { ...create, patterns: ["*"] } });
  await addNamespace("theirs");
  await onHub("kube-team");
  await submit("kube-team", "j");
  await submit("theirs", "j");
  await untilSaid("theirs", "j", /NamespaceNotAccepted: namespace theirs does not take Jobs/);
  await untilSaid("kube-team", "j", /no Job of a hub runs in namespace kube-team/);
  expect(await here("kube-team")).toBeUndefined();
  expect(Object.keys((await here("theirs")) ?? {})).not.toContain(ACCEPT_LABEL);
});

it("an agent that is given names serves these alone", async () => {
  await start({ namespaces: new Set(["team-a"]) });
  for (const name of ["team-a", "team-b"]) await addNamespace(name);
  await submit("team-a", "in");
  await submit("team-b", "out");
  await untilDone("team-a", "in");
  await untilSaid("team-b", "out", /NamespaceNotAccepted: .*--namespaces/);
  await nothingIn("team-b");
});

it.each(["kube-system", "jobferry-system"])("namespace %s is never served, labelled or not", async (namespace) => {
  await start({});
  await addNamespace(namespace);
  await east.patch(namespaces, { name: namespace }, { type: "merge", body: { metadata: { labels } } });
  await submit(namespace, "steal", { serviceAccountName: "jobferry-agent" });
  await untilSaid(namespace, "steal", /NamespaceNotAccepted/);
  await nothingIn(namespace);
});

describe("a Job with", () => {
  it.each<[string, object, RegExp]>([
    ["a privileged container", { containers: [{ ...main, securityContext: { privileged: true } }] }, /privileged/],
    ["a folder of the node", { volumes: [{ name: "etc", hostPath: { path: "/etc" } }] }, /hostPath of volume etc/],
    ["the node's network", { hostNetwork: true }, /hostNetwork/],
  ])("%s is refused by name, unless the operator allows it", async (_, pod, says) => {
    await start({});
    await submit("default", "greedy", pod);
    await untilSaid("default", "greedy", new RegExp(`PodNotAccepted: .*${says.source}`));
    await nothingIn("default");
    await fleet.stop();
    await start({ allowPrivileged: true });
    await submit("default", "greedy", pod);
    await untilDone("default", "greedy");
  });

  it("an account of its own is refused until the account is labelled", async () => {
    await start({});
    await east.create(serviceAccounts, "default", { metadata: { name: "builder" } });
    await submit("default", "build", { serviceAccountName: "builder" });
    await untilSaid(
      "default",
      "build",
      /PodNotAccepted: .*service account builder: `kubectl label serviceaccount builder/,
    );
    await nothingIn("default");
  });
});
