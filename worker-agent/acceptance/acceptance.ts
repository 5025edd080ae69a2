import type { JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { namespaces, serviceAccounts } from "@jobferry/shared/kube/resources.ts";
import { ACCEPT_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { reachesNode, serviceAccountOf } from "./pod-rules.ts";

/** What this cluster's operator lets the hub run here. */
export interface AcceptancePolicy {
  /** Namespaces of this cluster: those named, `all`, or those that carry the label. The system's and our own never. */
  readonly namespaces: "labelled" | "all" | ReadonlySet<string>;
  readonly agentNamespace: string;
  readonly allowPrivileged: boolean;
}

/** For a fleet that is its user's own, clusters included. */
export const ALL_NAMESPACES: AcceptancePolicy = {
  namespaces: "all",
  agentNamespace: "jobferry-system",
  allowPrivileged: false,
};

interface AcceptanceOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  policy: AcceptancePolicy;
}

interface Refused {
  readonly reason: RefusalReason;
  readonly message: string;
}

/** kube-system, kube-public, kube-node-lease: Kubernetes keeps the prefix for itself. */
const isSystem = (namespace: string): boolean => namespace.startsWith("kube-");

/** The worker decides what it serves. The policies of the hub's namespaces see no pod, so this looks before a mirror is made. */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  /** Only where labels decide. */
  readonly #namespaces: Reflector<KubeObject> | undefined;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    if (options.policy.namespaces === "labelled")
      this.#namespaces = new Reflector({ ...options, resource: namespaces });
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#namespaces?.start(signal);
  }

  async whenSynced(): Promise<void> {
    await this.#namespaces?.whenSynced();
  }

  /** The namespaces of this cluster that take Jobs of a hub. */
  async served(): Promise<string[]> {
    const { api, policy } = this.#options;
    const named = policy.namespaces;
    if (named !== "labelled" && named !== "all") return [...named];
    const all = this.#namespaces?.list() ?? (await api.list(namespaces)).items;
    return all
      .filter((one) => named === "all" || isLabelled(one))
      .map(({ metadata }) => metadata.name ?? "")
      .filter((name) => !isSystem(name));
  }

  /** Why this cluster does not take a new Job; undefined when it does. What matters here cannot change afterwards (VU-3). */
  async refusal(spec: JobSpec, namespace: string): Promise<Refused | undefined> {
    return (await this.#namespaceRefusal(namespace)) ?? (await this.#podRefusal(spec, namespace));
  }

  async #podRefusal(spec: JobSpec, namespace: string): Promise<Refused | undefined> {
    if (this.#options.policy.allowPrivileged) return undefined;
    const excess = reachesNode(spec);
    if (excess.length > 0)
      return podNotAccepted(`this cluster does not run pods that reach its nodes: leave out ${excess.join(", ")}`);
    return this.#accountRefusal(serviceAccountOf(spec), namespace);
  }

  async #namespaceRefusal(namespace: string): Promise<Refused | undefined> {
    const { policy } = this.#options;
    if (isSystem(namespace) || namespace === policy.agentNamespace)
      return namespaceNotAccepted(`no Job of a hub runs in namespace ${namespace}: choose another one`);
    if (policy.namespaces === "all") return undefined;
    if (policy.namespaces !== "labelled") {
      if (policy.namespaces.has(namespace)) return undefined;
      return namespaceNotAccepted(`the agent does not serve namespace ${namespace}: add it to its --namespaces`);
    }
    // A namespace that is not there has a refusal of its own, when the mirror is created.
    const found = this.#namespaces?.get("", namespace) ?? (await this.#find(namespaces, { name: namespace }));
    if (found === undefined || isLabelled(found)) return undefined;
    const fix = `kubectl label namespace ${namespace} ${ACCEPT_LABEL}=enabled`;
    return namespaceNotAccepted(
      `namespace ${namespace} does not take Jobs of a hub: \`${fix}\` on this cluster lets it`,
    );
  }

  async #accountRefusal(name: string, namespace: string): Promise<Refused | undefined> {
    if (name === "default") return undefined;
    const account = await this.#find(serviceAccounts, { namespace, name });
    if (account === undefined || isLabelled(account)) return undefined;
    const fix = `kubectl label serviceaccount ${name} -n ${namespace} ${ACCEPT_LABEL}=enabled`;
    return podNotAccepted(`Jobs of a hub may not act as service account ${name}: \`${fix}\` on this cluster lets them`);
  }

  async #find(resource: Resource, key: { namespace?: string; name: string }): Promise<KubeObject | undefined> {
    try {
      return await this.#options.api.get(resource, key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

const isLabelled = ({ metadata }: KubeObject): boolean => metadata.labels?.[ACCEPT_LABEL] === "enabled";

const namespaceNotAccepted = (message: string): Refused => ({ reason: "NamespaceNotAccepted", message });
const podNotAccepted = (message: string): Refused => ({ reason: "PodNotAccepted", message });
