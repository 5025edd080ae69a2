/** What a worker cannot have goes to another one, and the hub Job says why. */
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { configMaps, jobs, namespaces } from "@jobferry/shared/kube/resources.ts";
import { expect, it } from "vitest";
import { createNodes } from "../../harness/nodes.ts";
import type { LocalCluster } from "../../harness/real-cluster.ts";
import type { FleetNamespace, JobOptions } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";

interface Quota extends KubeObject {
  spec: { hard: Record<string, string> };
  status?: { hard: Record<string, string>; used: Record<string, string> };
}
const quotas: Resource<Quota> = {
  group: "",
  version: "v1",
  plural: "resourcequotas",
  kind: "ResourceQuota",
  namespaced: true,
};
const claims: Resource = {
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
};
const DATA = { name: "data", persistentVolumeClaim: { claimName: "data" } };

/** The cluster that has most room, so that Jobs with requests go there first. */
const FIRST = "east";
const requests = { cpu: "1" };
const MANAGED_BY =
  /ManagedByUnsupported: .*drops spec.managedBy; switch its feature gate JobManagedBy on .*--controller=builtin/;

interface Case {
  /** Makes the first cluster refuse the Job `j`. */
  prepare(at: FleetNamespace<RealFleet>): Promise<void>;
  says: RegExp;
  /** What the Job's pods refer to. */
  pod?: Partial<PodSpec>;
  /** Those that have the namespace. */
  workers?: string[];
}

const CASES: Record<string, Case> = {
  "a namespace that it does not have": {
    prepare: async () => {},
    workers: ["west"],
    says: /NamespaceMissing: namespace .* does not exist on this cluster/,
  },
  "a namespace on its way out": {
    async prepare({ name, fleet }) {
      // Nothing clears namespaces out on this cluster, so it stays like this.
      const { api } = fleet.worker(FIRST);
      await api.create(configMaps, name, { metadata: { name: "left" } });
      await api.delete(namespaces, { name });
    },
    says: /NamespaceTerminating/,
  },
  "a quota for Jobs": { prepare: (at) => limit(at, "count/jobs.batch"), says: /QuotaExceeded: .*exceeded quota/ },
  "a quota for pods": { prepare: (at) => limit(at, "pods"), says: /QuotaExceeded: .*exceeded quota/ },
  "an admission policy against the Job": {
    prepare: (at) => deny(at, "batch", "jobs"),
    says: /AdmissionDenied: .*not in this house/,
  },
  "an admission policy against its pods": {
    prepare: (at) => deny(at, "", "pods"),
    says: /AdmissionDenied: .*not in this house/,
  },
  "a service account that it does not have": {
    async prepare({ name, fleet }) {
      const west = fleet.worker("west");
      await west.kubectl("create", "serviceaccount", "robot", "-n", name);
      await west.kubectl("label", "serviceaccount", "robot", "-n", name, "jobferry.dev/accept=enabled");
    },
    pod: { serviceAccountName: "robot" },
    says: /ReferenceMissing: ServiceAccount [^ ]*\/robot does not exist on this cluster; create it there/,
  },
  "all sorts of things that it does not have": {
    async prepare(at) {
      const worker = at.fleet.worker("west");
      await createClaim(at, "west");
      const objects = [
        { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "urgent" }, value: 7 },
        { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "boxed" }, handler: "boxed" },
        {
          apiVersion: "resource.k8s.io/v1",
          kind: "ResourceClaimTemplate",
          metadata: { name: "gpu", namespace: at.name },
          spec: { spec: {} },
        },
      ];
      for (const object of objects)
        expect(await worker.kubectlWith(JSON.stringify(object), "apply", "-f", "-")).toMatchObject({ code: 0 });
    },
    pod: {
      priorityClassName: "urgent",
      runtimeClassName: "boxed",
      resourceClaims: [{ name: "g", resourceClaimTemplateName: "gpu" }],
      volumes: [DATA],
    },
    says: new RegExp(
      [
        "ReferenceMissing: PersistentVolumeClaim all-[^ ]*/data, PriorityClass urgent,",
        "RuntimeClass boxed, ResourceClaimTemplate all-[^ ]*/gpu do not exist on this cluster; create them there",
      ].join(" "),
    ),
  },
  "a Job of its own under that name": {
    async prepare({ name, fleet }) {
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } };
      const spec = { managedBy: "example.com/other", template };
      await fleet.worker(FIRST).api.create(jobs, name, { metadata: { name: "j" }, spec });
    },
    says: /NameTaken/,
  },
};

export function refusals(fleet: RealFleet): void {
  it.concurrent.each(Object.keys(CASES))("%s: refused with its reason, and run elsewhere", async (name) => {
    const { prepare, says, pod: spec, workers } = CASES[name] as Case;
    const at = await fleet.namespace(name.toLowerCase().replaceAll(/\W+/g, "-"), workers);
    await prepare(at);
    await expectRefusal(at, "j", says, spec === undefined ? {} : { pod: { spec } });
  });

  it.concurrent("what no cluster has is named, and the Job goes on once it is there", async () => {
    const at = await fleet.namespace("appears");
    await at.submit("j", { pod: { spec: { volumes: [DATA] } } });
    for (const cluster of ["east", "west"])
      await at.untilMessage("j", new RegExp(`${cluster}.* ReferenceMissing: PersistentVolumeClaim appears/data`));
    await createClaim(at, "west");
    expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 1 });
    expect(await at.cluster("j")).toBe("west");
  });
}

/** After each of these the manager alone would wait for ten minutes: the agent sees that the cause is gone. */
export function mendedRefusals(fleet: RealFleet): void {
  const allow = async (name: string): Promise<void> => {
    for (const kind of ["validatingadmissionpolicybinding", "validatingadmissionpolicy"])
      expect(await fleet.worker(FIRST).kubectl("delete", kind, name)).toMatchObject({ code: 0 });
  };
  const mends: Record<string, (at: FleetNamespace) => Promise<unknown>> = {
    "an admission policy against its pods": ({ name }) => allow(`deny-pods-${name}`),
    "an admission policy against the Job": ({ name }) => allow(`deny-jobs-${name}`),
    "a Job of its own under that name": ({ name }) =>
      fleet.worker(FIRST).api.delete(jobs, { namespace: name, name: "j" }),
  };
  it.concurrent.each(Object.keys(mends))("%s: refused, and run there once that is gone", async (name) => {
    const { prepare, says } = CASES[name] as Case;
    const at = await fleet.namespace(`mended-${name.toLowerCase().replaceAll(/\W+/g, "-")}`, [FIRST]);
    await prepare(at);
    await at.submit("j");
    await at.untilMessage("j", says);
    await mends[name]?.(at);
    expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 1 });
    expect(await at.cluster("j")).toBe(FIRST);
  });
}

async function expectRefusal(
  at: FleetNamespace<RealFleet>,
  name: string,
  says: RegExp,
  more: JobOptions = {},
): Promise<void> {
  await at.submit(name, { requests, ...more });
  const finished = await at.untilFinished(name);
  expect(finished.status).toMatchObject({ succeeded: 1 });
  expect(finished.status?.failed ?? 0).toBe(0);
  expect(await at.cluster(name)).toBe("west");
  const warnings = async () => (await at.events(name)).filter(({ reason }) => reason === "DispatchFailed");
  await at.until("an event says why", async () => (await warnings()).length > 0);
  expect((await warnings()).map(({ message }) => message)).toEqual([expect.stringMatching(says)]);
  await at.untilNothingIsLeft(name);
}

/** To be changed while the fleet runs; take effect at an API server's next start. */
export const apiServer = { apiServerArgs: [] as string[], featureGates: {} as Record<string, boolean> };

/** From then on the first cluster is one of Kubernetes 1.33 that does not store `managedBy`. */
async function dropManagedBy(fleet: RealFleet): Promise<void> {
  apiServer.apiServerArgs.push("--emulated-version=1.33");
  apiServer.featureGates.JobManagedBy = false;
  await (fleet.worker(FIRST) as LocalCluster).restartApiServer();
}

/** Its API server is restarted: comes after all that run beside each other, in a fleet with `apiServer`. */
export function withoutManagedBy(fleet: RealFleet, outcome: "refused" | "run"): void {
  it(`a cluster that does not store managedBy: ${outcome}`, async ({ skip }) => {
    if (process.env.JOBFERRY_TEST_CLUSTER === "k3s") skip("an API server whose gates can be switched: K3s has none");
    const at = await fleet.namespace("managed-by");
    await dropManagedBy(fleet);
    if (outcome === "run") {
      await at.submit("j", { requests });
      expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 1 });
      return expect(await at.cluster("j")).toBe(FIRST);
    }
    // The agent knows the server as it was. This Job is run by the cluster's own controller, and shows it what has changed.
    await at.submit("first", { requests });
    expect((await at.untilFinished("first")).status).toMatchObject({ succeeded: 1 });
    const mirrors = await at.followOn(FIRST, "j");
    await expectRefusal(at, "j", MANAGED_BY);
    expect(mirrors.states).toEqual([]);
  });
}

/** Before the scenarios run. */
export const prepareRefusals = (fleet: RealFleet): Promise<void> =>
  createNodes(fleet.worker(FIRST), [{ name: "big", cpu: "640" }]);

async function createClaim({ name, fleet }: FleetNamespace<RealFleet>, cluster: string): Promise<void> {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await fleet.worker(cluster).api.create(claims, name, { metadata: { name: "data" }, spec } as KubeObject);
}

/** A quota of none; its controller, which is not there, would write the status. */
async function limit({ name, fleet }: FleetNamespace<RealFleet>, what: string): Promise<void> {
  const { api } = fleet.worker(FIRST);
  const hard = { [what]: "0" };
  await api.create(quotas, name, { metadata: { name: "none" }, spec: { hard } });
  const body = { status: { hard, used: { [what]: "0" } } };
  await api.patch(quotas, { namespace: name, name: "none" }, { type: "merge", body }, { subresource: "status" });
}

async function deny({ name, fleet }: FleetNamespace<RealFleet>, group: string, plural: string): Promise<void> {
  const rule = { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE"], resources: [plural] };
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": name } };
  const admission = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: `deny-${plural}-${name}` } };
  const policy = {
    ...admission,
    kind: "ValidatingAdmissionPolicy",
    spec: {
      matchConstraints: { resourceRules: [rule], namespaceSelector },
      validations: [{ expression: "false", message: "not in this house" }],
    },
  };
  const binding = {
    ...admission,
    kind: "ValidatingAdmissionPolicyBinding",
    spec: { policyName: policy.metadata.name, validationActions: ["Deny"] },
  };
  const worker = fleet.worker(FIRST);
  for (const object of [policy, binding])
    expect(await worker.kubectlWith(JSON.stringify(object), "apply", "-f", "-")).toMatchObject({ code: 0 });
  const probe = [...(plural === "jobs" ? ["create", "job"] : ["run"]), "probe", "--image=none", "-n", name];
  await fleet.until("the policy acts", async () => {
    return (await worker.kubectl(...probe, "--dry-run=server")).stderr.includes("not in this house");
  });
}
