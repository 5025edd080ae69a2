import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists, isForbidden } from "@jobferry/shared/kube/errors.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import { ACCEPT_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";

/** Which namespaces an agent creates for Jobs that come, and what their pods may do. */
export interface NewNamespaces {
  /** Names, with `*` for any characters. */
  readonly patterns: readonly string[];
  /** What Pod Security enforces there. */
  readonly podSecurity: "restricted" | "baseline" | "privileged";
}

const ENFORCE = "pod-security.kubernetes.io/enforce";

/** Whether one of the patterns has this name. */
export const matchesPattern = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => new RegExp(`^${pattern.split("*").join("[-a-z0-9]*")}$`).test(name));

/** Why a namespace could not be created. */
export const MAY_NOT_CREATE =
  "the agent may not create it: `kubectl apply -f deploy/worker/namespaces.yaml` on this cluster lets it";

/** Creates namespaces of hub Jobs on this cluster, where its operator asked for that. It never changes or deletes one. */
export class NamespaceMaker {
  readonly #api: Pick<KubeApi, "create">;
  readonly #logger: Logger;
  readonly #policy: NewNamespaces;

  constructor(api: Pick<KubeApi, "create">, logger: Logger, policy: NewNamespaces) {
    this.#api = api;
    this.#logger = logger;
    this.#policy = policy;
  }

  wants(name: string): boolean {
    return matchesPattern(this.#policy.patterns, name);
  }

  /** `exists`: somebody else was faster, and it is theirs. */
  async make(name: string): Promise<"made" | "exists" | "forbidden"> {
    const labels = { [ACCEPT_LABEL]: "enabled", [ENFORCE]: this.#policy.podSecurity };
    try {
      await this.#api.create<KubeObject>(namespaces, undefined, { metadata: { name, labels } });
    } catch (error) {
      if (isAlreadyExists(error)) return "exists";
      if (isForbidden(error) && /cannot create resource "namespaces"/.test((error as Error).message))
        return "forbidden";
      throw error;
    }
    this.#logger.info({ namespace: name, podSecurity: this.#policy.podSecurity }, "namespace created");
    return "made";
  }
}
