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
import type { Needed } from "../references/presence.ts";
import { MAY_NOT_CREATE, NamespaceMaker, type NewNamespaces } from "./namespace-maker.ts";
import { reachesNode, serviceAccountOf } from "./pod-rules.ts";

/** What this cluster's operator lets the hub run here. */
export interface AcceptancePolicy {
  /** Namespaces of this cluster: those named, `all`, or those that carry the label. The system's and our own never. */
  readonly namespaces: "labelled" | "all" | ReadonlySet<string>;
  readonly agentNamespace: string;
  readonly allowPrivileged: boolean;
  /** Namespaces that are created when a Job comes for them; none unless given. */
  readonly create?: NewNamespaces | undefined;
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
  /** What would have to appear for the Job to go on here. */
  readonly missing?: readonly Needed[];
  /** What would have to be labelled. */
  readonly unlabelled?: Needed;
}

/** kube-system, kube-public, kube-node-lease: Kubernetes keeps the prefix for itself. */
const isSystem = (namespace: string): boolean => namespace.startsWith("kube-");

/** The worker decides what it serves. The policies of the hub's namespaces see no pod, so this looks before a mirror is made. */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  /** Only where labels decide. */
  readonly #namespaces: Reflector<KubeObject> | undefined;
  readonly #maker: NamespaceMaker | undefined;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    const { api, logger, policy } = options;
    if (policy.create !== undefined) this.#maker = new NamespaceMaker(api, logger, policy.create);
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
    if (policy.namespaces === "all") return this.#makeIfMissing(namespace);
    if (policy.namespaces !== "labelled") {
      if (policy.namespaces.has(namespace)) return this.#makeIfMissing(namespace);
      return namespaceNotAccepted(`the agent does not serve namespace ${namespace}: add it to its --namespaces`);
    }
    const found = await this.#namespace(namespace);
    if (found === undefined) return this.#make(namespace);
    if (isLabelled(found)) return undefined;
    const fix = `kubectl label namespace ${namespace} ${ACCEPT_LABEL}=enabled`;
    return {
      ...namespaceNotAccepted(`namespace ${namespace} does not take Jobs of a hub: \`${fix}\` on this cluster lets it`),
      unlabelled: { kind: "Namespace", name: namespace },
    };
  }

  async #namespace(name: string): Promise<KubeObject | undefined> {
    return this.#namespaces?.get("", name) ?? (await this.#find(namespaces, { name }));
  }

  async #makeIfMissing(namespace: string): Promise<Refused | undefined> {
    if (this.#maker?.wants(namespace) !== true || (await this.#namespace(namespace)) !== undefined) return undefined;
    return this.#make(namespace);
  }

  /** A namespace that is not there, and is not to be created, has a refusal of its own, when the mirror is created. */
  async #make(namespace: string): Promise<Refused | undefined> {
    if (this.#maker?.wants(namespace) !== true) return undefined;
    const made = await this.#maker.make(namespace);
    if (made === "exists")
      throw new Error(`namespace ${namespace} has just been created by somebody else: looking again`);
    if (made === "made") return undefined;
    const message = `namespace ${namespace} does not exist on this cluster, and ${MAY_NOT_CREATE}`;
    return { reason: "NamespaceMissing", message, missing: [{ kind: "Namespace", name: namespace }] };
  }

  async #accountRefusal(name: string, namespace: string): Promise<Refused | undefined> {
    if (name === "default") return undefined;
    const account = await this.#find(serviceAccounts, { namespace, name });
    if (account === undefined || isLabelled(account)) return undefined;
    const fix = `kubectl label serviceaccount ${name} -n ${namespace} ${ACCEPT_LABEL}=enabled`;
    return {
      ...podNotAccepted(`Jobs of a hub may not act as service account ${name}: \`${fix}\` on this cluster lets them`),
      unlabelled: { kind: "ServiceAccount", namespace, name },
    };
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
