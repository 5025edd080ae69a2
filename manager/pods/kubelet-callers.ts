import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import { NODE_NAME } from "./projection.ts";

/** Who a client certificate says that somebody is. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
}

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
const configMaps: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

interface AccessReview extends KubeObject {
  spec: object;
  status?: { allowed?: boolean };
}
const accessReviews: Resource<AccessReview> = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
};

/** Where every API server publishes who signs the certificates of its clients. */
const AUTHENTICATION = { namespace: "kube-system", name: "extension-apiserver-authentication" };

export async function clientCaOf(api: Pick<KubeApi, "get">): Promise<string> {
  const { data } = await api.get(configMaps, AUTHENTICATION);
  const ca = data?.["client-ca-file"];
  if (ca === undefined || ca === "")
    throw new Error(
      "the API server has no --client-ca-file, so that its certificate cannot be told from others: logs cannot be read through it",
    );
  return ca;
}

const ALLOWED_MS = 300_000;
const REFUSED_MS = 10_000;
const REMEMBERED = 256;

/** As a kubelet asks: may this caller use `nodes/proxy` of our node? A name that was configured needs no question. */
export class Callers {
  readonly #api: Pick<KubeApi, "create">;
  readonly #clock: Clock;
  readonly #known: string | undefined;
  readonly #answers = new LruMap<string, { allowed: boolean; until: number }>(REMEMBERED);

  constructor(api: Pick<KubeApi, "create">, clock: Clock, known?: string) {
    this.#api = api;
    this.#clock = clock;
    this.#known = known;
  }

  async isAllowed({ user, groups }: Caller): Promise<boolean> {
    if (this.#known !== undefined) return user === this.#known;
    const name = JSON.stringify([user, groups]);
    const answer = this.#answers.get(name);
    if (answer !== undefined && this.#clock.monotonic() < answer.until) return answer.allowed;
    const resourceAttributes = { verb: "get", version: "v1", resource: "nodes", subresource: "proxy", name: NODE_NAME };
    const review = await this.#api.create(accessReviews, undefined, {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: {},
      spec: { user, groups, resourceAttributes },
    });
    const allowed = review.status?.allowed === true;
    this.#answers.set(name, { allowed, until: this.#clock.monotonic() + (allowed ? ALLOWED_MS : REFUSED_MS) });
    return allowed;
  }
}
