import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { configMaps, type Secret, secrets } from "@jobferry/shared/kube/resources.ts";
import { MAX_REFERENCES } from "@jobferry/shared/protocol/limits.ts";
import { TAKEN } from "@jobferry/shared/protocol/marks.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import { type CopiedKind, formatContents } from "@jobferry/shared/references/contents.ts";
import { type Reference, referencesOf } from "@jobferry/shared/references/template.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import { Slots } from "@jobferry/shared/runtime/slots.ts";
import type { Queues } from "../placement/queues.ts";
import { isTaken, type Taken } from "./changes.ts";
import type { Hashes } from "./hashes.ts";

export interface HubReferencesOptions {
  readonly api: Pick<KubeApi, "get">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly queues: Pick<Queues, "copies">;
  readonly hashes: Hashes;
}

/** What travels with a Job, and what keeps the rest from it. */
export interface Listing {
  readonly references: readonly ListedReference[];
  /** The same, to be noted on the Job; undefined where the Job refers to nothing of the kind. */
  readonly taken: readonly Taken[] | undefined;
  /** Undefined: nothing is in the way. Otherwise one sentence with the fix. */
  readonly problem: string | undefined;
}

/** `changed`: the hub does not have these contents any more. */
export type Kept = { readonly contents: string } | { readonly problem: string } | "not-listed" | "changed";

type Found = { readonly contents: string } | { readonly problem: string } | "stays";

type Travelling = Reference & { readonly kind: CopiedKind };

/** What could not be read is asked for again after this long, by however many Jobs it is awaited. */
export const TRY_AGAIN_MS = 5_000;
const REMEMBERED = 4096;
/** At a time, for all Jobs that are dispatched: each may bring several MiB. */
const READS = 16;
/** Of a Secret that only means something to the cluster that made it. */
const ACCOUNT_TOKEN = "kubernetes.io/service-account-token";
const FIELDS = { ConfigMap: "configMaps", Secret: "secrets" } as const;
const NONE: Listing = { references: [], taken: undefined, problem: undefined };

/**
 * The ConfigMaps and Secrets of the hub that its Jobs refer to. Read when a Job is dispatched, one read for each: what somebody
 * edits before they create the Job is what the Job gets. Contents are never kept.
 */
export class HubReferences {
  readonly #options: HubReferencesOptions;
  readonly #reads = new Slots(READS);
  readonly #problems = new LruMap<string, { readonly problem: string; readonly until: number }>(REMEMBERED);

  constructor(options: HubReferencesOptions) {
    this.#options = options;
  }

  /** No call is made for a Job with nothing that travels. */
  async list(job: Job, queue: string): Promise<Listing> {
    const travelling = this.#travelling(job, queue);
    if (travelling.length === 0) return NONE;
    if (travelling.length > MAX_REFERENCES)
      return { ...NONE, problem: `refers to more than ${MAX_REFERENCES} ConfigMaps and Secrets: use fewer` };
    const found = await Promise.all(travelling.map((reference) => this.#hash(job, reference)));
    const taken = found.filter((one) => typeof one === "object");
    const problem = found.find((one) => typeof one === "string");
    const references = taken.map(({ kind, name, hashes: [hash = ""] }): ListedReference => ({ kind, name, hash }));
    return { references, taken, problem };
  }

  /** Of what a delivery of this Job listed. A copy may be older than the manager's present key. */
  async contents(job: Job, queue: string, { kind, name, hash }: ListedReference): Promise<Kept> {
    const reference = this.#travelling(job, queue).find((one) => one.kind === kind && one.name === name);
    if (reference === undefined || !isTaken(job.metadata.annotations?.[TAKEN], kind, name, hash)) return "not-listed";
    const found = await this.#find(job, reference);
    if (found === "stays") return "changed";
    if ("problem" in found) return found;
    return this.#options.hashes.all(kind, found.contents).includes(hash) ? found : "changed";
  }

  /** A string says what is in the way. Of the contents no more than the hash outlives the call: a Job may have hundreds. */
  async #hash(job: Job, reference: Travelling): Promise<Taken | string | undefined> {
    const { kind, name } = reference;
    return this.#reads.run(async () => {
      const found = await this.#find(job, reference);
      if (found === "stays") return undefined;
      return "problem" in found
        ? found.problem
        : { kind, name, hashes: this.#options.hashes.all(kind, found.contents) };
    });
  }

  #travelling(job: Job, queue: string): Travelling[] {
    const kinds = this.#options.queues.copies(queue);
    if (kinds.size === 0) return [];
    return referencesOf(job.spec.template).filter(
      (reference): reference is Travelling =>
        kinds.has(reference.kind as CopiedKind) &&
        !(reference.kind === "ConfigMap" && reference.name === "kube-root-ca.crt"),
    );
  }

  async #find(job: Job, { kind, name, optional }: Travelling): Promise<Found> {
    const { namespace = "" } = job.metadata;
    const key = `${kind} ${namespace}/${name}`;
    const now = this.#options.clock.monotonic();
    // One that no Job waits for is not read again and again: what is there when the Job is dispatched goes with it.
    const known = optional ? undefined : this.#problems.get(key);
    const isKnown = known !== undefined && known.until > now;
    const found = isKnown ? known : await this.#read(kind, namespace, name);
    if (found === "stays" || "contents" in found) return found;
    if (!isKnown && !optional) this.#problems.set(key, { problem: found.problem, until: now + TRY_AGAIN_MS });
    return optional ? "stays" : { problem: found.problem };
  }

  async #read(kind: CopiedKind, namespace: string, name: string): Promise<Found> {
    const { api } = this.#options;
    try {
      if (kind === "ConfigMap") return { contents: formatContents(await api.get(configMaps, { namespace, name })) };
      const secret: Secret = await api.get(secrets, { namespace, name });
      return secret.type === ACCOUNT_TOKEN ? "stays" : { contents: formatContents(secret) };
    } catch (error) {
      if (!isNotFound(error) && !isForbidden(error)) throw error;
      return { problem: problemOf(isNotFound(error), kind, namespace, name) };
    }
  }
}

function problemOf(isAbsent: boolean, kind: CopiedKind, namespace: string, name: string): string {
  const object = `${kind} ${namespace}/${name}`;
  if (isAbsent)
    return `${object} does not exist on the hub: create it, or set references.${FIELDS[kind]} to Expect on the Job's queue if the workers have one`;
  const what = `${object} may not be read by the manager`;
  if (kind === "ConfigMap") return `${what}: apply deploy/hub again, which gives it the right`;
  return `${what}: kubectl create rolebinding jobferry-references -n ${namespace} --clusterrole=jobferry-references --serviceaccount=jobferry-system:jobferry-manager`;
}
