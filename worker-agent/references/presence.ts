import type { PodTemplate } from "@jobferry/shared/job/types.ts";
import type { KubeApi, Resource } from "@jobferry/shared/kube/api.ts";
import { ApiError, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { configMaps, namespaces, secrets } from "@jobferry/shared/kube/resources.ts";
import { type Reference, type ReferredKind, referencesOf } from "@jobferry/shared/references/template.ts";

/** Something that a Job needs on this cluster. */
export interface Needed {
  readonly kind: ReferredKind | "Namespace";
  /** Absent for what belongs to the whole cluster. */
  readonly namespace?: string;
  readonly name: string;
}

const core = (plural: string, kind: string): Resource => ({ group: "", version: "v1", plural, kind, namespaced: true });
const claims = (plural: string, kind: string): Resource => ({ ...core(plural, kind), group: "resource.k8s.io" });

const RESOURCES: Readonly<Record<Needed["kind"], Resource>> = {
  ConfigMap: configMaps,
  Secret: secrets,
  ServiceAccount: core("serviceaccounts", "ServiceAccount"),
  PersistentVolumeClaim: core("persistentvolumeclaims", "PersistentVolumeClaim"),
  ResourceClaim: claims("resourceclaims", "ResourceClaim"),
  ResourceClaimTemplate: claims("resourceclaimtemplates", "ResourceClaimTemplate"),
  PriorityClass: { ...core("priorityclasses", "PriorityClass"), group: "scheduling.k8s.io", namespaced: false },
  RuntimeClass: { ...core("runtimeclasses", "RuntimeClass"), group: "node.k8s.io", namespaced: false },
  Namespace: namespaces,
};

/** Whether a cluster has what a Job's pods cannot start without. Asked of the API server itself, never of a cache. */
export class Presence {
  readonly #api: Pick<KubeApi, "get">;

  constructor(api: Pick<KubeApi, "get">) {
    this.#api = api;
  }

  /** What is missing of all that the template refers to; no call is made for a template that refers to nothing. */
  async missingFor(
    template: PodTemplate,
    namespace: string,
    isBrought: (reference: Reference) => boolean = () => false,
  ): Promise<Needed[]> {
    const needed = referencesOf(template)
      .filter((reference) => !reference.optional && !comesWithCluster(reference) && !isBrought(reference))
      .map(({ kind, name }): Needed => (RESOURCES[kind].namespaced ? { kind, namespace, name } : { kind, name }));
    const missing = await Promise.all(needed.map((one) => this.isMissing(one)));
    const found = needed.filter((_, index) => missing[index]);
    if (!found.some((one) => one.namespace !== undefined)) return found;
    // Without its namespace nothing in it is there: that is the news.
    const home: Needed = { kind: "Namespace", name: namespace };
    return (await this.isMissing(home)) ? [home] : found;
  }

  /** Undefined when it is not there. */
  async labelsOf({ kind, namespace, name }: Needed): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const found = await this.#api.get(RESOURCES[kind], namespace === undefined ? { name } : { namespace, name });
      return found.metadata.labels ?? {};
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** What this agent may not read, or the cluster does not serve, cannot be said to be missing. */
  async isMissing({ kind, namespace, name }: Needed): Promise<boolean> {
    try {
      await this.#api.get(RESOURCES[kind], namespace === undefined ? { name } : { namespace, name });
      return false;
    } catch (error) {
      if (isNotFound(error)) return (error as ApiError).status?.details?.name === name;
      if (error instanceof ApiError && error.code === 403) return false;
      throw error;
    }
  }
}

/** Every cluster makes these by itself: a namespace comes with its `default` account, an API server with its own classes. */
const comesWithCluster = ({ kind, name }: Reference): boolean =>
  (kind === "ServiceAccount" && name === "default") ||
  (kind === "ConfigMap" && name === "kube-root-ca.crt") ||
  (kind === "PriorityClass" && name.startsWith("system-"));

export const nameOf = ({ kind, namespace, name }: Needed): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** More than a submitter reads at once. */
const NAMED = 5;

/** What is missing, and what to do about it, in one sentence. */
export function missingSentence(missing: readonly Needed[]): string {
  const names = missing.slice(0, NAMED).map(nameOf).join(", ");
  const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : "";
  const [does, it] = missing.length === 1 ? ["does", "it"] : ["do", "them"];
  return `${names}${more} ${does} not exist on this cluster; create ${it} there, and the Job goes on`;
}
