/** What `jobferry up` puts on a hub that exists: the resource definitions, the namespace of the Lease, the admission policies. */

import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { logReadings } from "@jobferry/shared/api/log-readings.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, namespaces } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { parseAllDocuments } from "yaml";
import type { ReachedCluster } from "./clusters.ts";
import { packagedFile } from "./files.ts";

const admission = (plural: string, kind: string): Resource => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural,
  kind,
  namespaced: false,
});
const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const RESOURCES: readonly Resource[] = [
  definitions,
  namespaces,
  admission("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
  admission("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
  admission("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
  admission("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
];
const DEFINITIONS = ["workerclusters", "jobqueues", "logreadings"].map((name) => `deploy/crds/${name}.yaml`);
const OURS: readonly Resource[] = [workerClusters, jobQueues, logReadings];
const SERVED_MS = 30_000;
const LOOK_MS = 100;

export interface Applied {
  /** Such as `Namespace/jobferry-system`. */
  readonly object: string;
  readonly outcome: "applied" | "would be applied" | "kept as it is" | "left out";
  readonly why?: string;
}

const crdManifests = (): KubeObject[] => DEFINITIONS.flatMap(manifestsOf);
const admissionManifests = (): KubeObject[] => manifestsOf("deploy/hub/admission.yaml");
/** Against submitters; without them the manager's own check of its marks is all there is. */
const guardManifests = (): KubeObject[] => ["strip", "guard"].flatMap((name) => manifestsOf(`deploy/hub/${name}.yaml`));

/**
 * The same for an embedded hub, which is new and ours: nothing can be missing or forbidden. Its one user is an administrator, whom
 * the guard lets pass.
 */
export async function installEmbeddedHub(hub: KubeApi): Promise<void> {
  for (const manifest of [...crdManifests(), ...admissionManifests()])
    await hub.create(resourceOf(manifest), undefined, manifest);
}

/** Applies, or with `dryRun` has the API server check, what the hub needs; in the order in which it is needed. */
export async function installHub(hub: ReachedCluster, dryRun: boolean): Promise<Applied[]> {
  await checkManagedBy(hub);
  const applied: Applied[] = [];
  for (const manifest of crdManifests()) applied.push(await applyNeeded(hub, manifest, dryRun));
  for (const manifest of manifestsOf("deploy/hub/namespace.yaml"))
    applied.push(await applyNeeded(hub, manifest, dryRun));
  for (const manifest of admissionManifests())
    applied.push(await applyOptional(hub, manifest, dryRun, "set spec.managedBy in the Jobs"));
  for (const manifest of guardManifests())
    applied.push(await applyOptional(hub, manifest, dryRun, "the manager takes away marks that users write"));
  if (!dryRun) await untilServed(hub.api);
  return applied;
}

const manifestsOf = (file: string): KubeObject[] =>
  parseAllDocuments(packagedFile(file)).map((document) => document.toJS() as KubeObject);

/** A hub that drops the field would run every Job itself, without a word. */
async function checkManagedBy({ flag, api, version }: ReachedCluster): Promise<void> {
  const containers = [{ name: "main", image: "none" }];
  const probe = {
    metadata: { name: "jobferry-probe" },
    spec: { managedBy: HUB_MANAGED_BY, template: { spec: { restartPolicy: "Never" as const, containers } } },
  };
  // Who may not create Jobs here cannot ask; the manager needs no such right.
  const kept = await api.create(jobs, "default", probe, { dryRun: true }).catch(() => undefined);
  if (kept === undefined || kept.spec.managedBy === HUB_MANAGED_BY) return;
  throw new ConfigError(
    `${flag}: ${api.server} (${version}) drops spec.managedBy; enable its feature gate JobManagedBy, on by default since 1.32`,
  );
}

function resourceOf(manifest: KubeObject): Resource {
  const resource = RESOURCES.find(({ kind }) => kind === manifest.kind);
  if (resource === undefined) throw new Error(`no resource for ${manifest.kind}`);
  return resource;
}

async function apply(api: KubeApi, manifest: KubeObject, dryRun: boolean): Promise<void> {
  const patch = { type: "apply" as const, body: manifest, fieldManager: "jobferry-up", force: true };
  await api.patch(resourceOf(manifest), { name: manifest.metadata.name ?? "" }, patch, dryRun ? { dryRun } : {});
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;
const done = (dryRun: boolean): Applied["outcome"] => (dryRun ? "would be applied" : "applied");

async function applyNeeded({ flag, api }: ReachedCluster, manifest: KubeObject, dryRun: boolean): Promise<Applied> {
  const object = nameOf(manifest);
  try {
    await apply(api, manifest, dryRun);
    return { object, outcome: done(dryRun) };
  } catch (error) {
    if (!isForbidden(error)) throw new ConfigError(`${flag}: ${object}: ${(error as Error).message}`, { cause: error });
    if (await isThere(api, manifest)) return { object, outcome: "kept as it is", why: "this user may not change it" };
    const fix = "use an administrator's kubeconfig, or have one run `kubectl apply -k deploy/hub`";
    throw new ConfigError(`${flag}: ${api.server} does not let this user create ${object}; ${fix}`, { cause: error });
  }
}

/** Where the definition may not be read, its resource may. */
async function isThere(api: KubeApi, { metadata, kind }: KubeObject): Promise<boolean> {
  const defined = OURS.find(({ plural, group }) => metadata.name === `${plural}.${group}`);
  const looking = defined === undefined ? api.get(namespaces, { name: metadata.name ?? "" }) : api.list(defined);
  return await looking.then(
    () => kind !== undefined,
    () => false,
  );
}

/** `instead`: what holds, or is to be done, without it. */
async function applyOptional(
  { api, version }: ReachedCluster,
  manifest: KubeObject,
  dryRun: boolean,
  instead: string,
): Promise<Applied> {
  const object = nameOf(manifest);
  try {
    await apply(api, manifest, dryRun);
    return { object, outcome: done(dryRun) };
  } catch (error) {
    const why = isNotFound(error) ? `Kubernetes ${version} does not have it` : (error as Error).message;
    return { object, outcome: "left out", why: `${why}; ${instead}` };
  }
}

/** An API server serves a new kind a moment after it took its definition. */
async function untilServed(api: KubeApi): Promise<void> {
  const deadline = realClock.monotonic() + SERVED_MS;
  for (const resource of OURS)
    for (;;) {
      const problem = await api.list(resource).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (problem === undefined) break;
      if (!isNotFound(problem) || realClock.monotonic() > deadline) throw problem;
      await sleep(realClock, LOOK_MS);
    }
}
