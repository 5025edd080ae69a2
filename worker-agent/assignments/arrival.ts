import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import type { RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { AWAITS, CARRY, WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import type { Epoch } from "@jobferry/shared/protocol/names.ts";
import type { Reference } from "@jobferry/shared/references/template.ts";
import type { Acceptance } from "../acceptance/acceptance.ts";
import { awaitsCopies, type Identity, identityOf, isSeeded, keyOf } from "../mirrors.ts";
import type { Copies, Lacking, Looked } from "../references/copies.ts";
import { missingSentence, Presence } from "../references/presence.ts";
import { type Cause, Causes } from "./causes.ts";
import type { Departure } from "./departure.ts";
import {
  copiesIn,
  hasCopiesOf,
  isUpToDate,
  type MirrorOptions,
  mirrorUpdates,
  newMirror,
  seedOf,
} from "./mirror-spec.ts";
import { namespaceMissing, type Refusal, refusalOf } from "./refusal.ts";

export interface ArrivalOptions extends MirrorOptions {
  api: KubeApi;
  acceptance: Pick<Acceptance, "refusal">;
  copies: Pick<Copies, "lacking" | "fetch" | "isAwaited">;
}

/** What came of a try to create a mirror. */
export type Arrived =
  | { readonly is: "here" }
  | { readonly is: "refused"; readonly refusal: Refusal; readonly causes?: readonly Cause[] }
  /** Its pods wait for copies of what they refer to. */
  | { readonly is: "held" }
  /** A later epoch of the same Job has the name: the cache had not shown it yet. */
  | { readonly is: "newer"; readonly has: Epoch }
  /** Its name is taken by the mirror of a Job, or an epoch, that is no more. */
  | { readonly is: "blocked"; readonly by: Job; readonly identity: Identity };

const DROPS_MANAGED_BY: Refusal = {
  reason: "ManagedByUnsupported",
  message:
    "this API server drops spec.managedBy; switch its feature gate JobManagedBy on (it is from Kubernetes 1.32 on), or run the agent with --controller=builtin",
};

/** Of Kubernetes 1.37: gangs through objects that our Job controller does not create. Running the Job without them would be another Job. */
const WANTS_GANGS: Refusal = {
  reason: "SchedulingUnsupported",
  message:
    "the agent's Job controller does not know spec.scheduling; leave it out (the annotation jobferry.dev/gang asks for room for all pods), or run the agent with --controller=builtin",
};

/** The cluster's own Job controller adopts whatever matches; ours takes in only what was made for the mirror. */
const TAKES_PODS: Refusal = {
  reason: "PodNotAccepted",
  message: "a selector written by hand could take in other pods of this cluster: leave out spec.manualSelector",
};

/** How mirrors come to this cluster and follow their Jobs. Each call resolves once nothing is left to do, and may be made again. */
export class Arrival {
  readonly #options: ArrivalOptions;
  readonly #departure: Departure;
  readonly #presence: Presence;
  readonly #causes: Causes;
  #keepsManagedBy = false;

  constructor(options: ArrivalOptions, departure: Departure) {
    this.#options = options;
    this.#departure = departure;
    this.#presence = new Presence(options.api);
    this.#causes = new Causes({ api: options.api, presence: this.#presence });
  }

  /** `isHeld`: whether the manager counts this other mirror as ours. */
  async create(delivery: RunDelivery, isHeld: (identity: Identity) => boolean): Promise<Arrived> {
    const arrived = await this.#create(delivery, isHeld);
    if (arrived.is !== "refused") return arrived;
    return { ...arrived, causes: this.#causes.ofMirror(arrived.refusal, newMirror(delivery, this.#options, false)) };
  }

  /** What keeps the pods of this mirror away. */
  causesOf(refusal: Refusal, mirror: Job): readonly Cause[] {
    return this.#causes.ofPods(refusal, mirror);
  }

  async #create(delivery: RunDelivery, isHeld: (identity: Identity) => boolean): Promise<Arrived> {
    const { api } = this.#options;
    const namespace = this.#options.mapNamespace(delivery.namespace);
    const unwanted = await this.#unwanted(delivery.job.spec, namespace);
    if (unwanted !== undefined) return { is: "refused", refusal: unwanted };
    const missing = await this.#missing(delivery, namespace);
    if (missing !== undefined) return { is: "refused", refusal: missing };
    const copies = await this.#options.copies.lacking(delivery, namespace, true);
    if ("refusal" in copies) return { is: "refused", refusal: copies.refusal };
    const mirror = newMirror(withoutThose(delivery, copies), this.#options, copies.lacking.length > 0);
    let created: Job | undefined;
    try {
      if (await this.#wouldBeOurs(mirror)) created = await api.create(jobs, namespace, mirror);
    } catch (error) {
      if (isAlreadyExists(error)) return this.#nameTaken(delivery, { namespace, name: delivery.name }, isHeld);
      const refusal = refusalOf(error, namespace);
      if (refusal === undefined) throw error;
      return { is: "refused", refusal };
    }
    if (created === undefined) return { is: "refused", refusal: DROPS_MANAGED_BY };
    this.#keepsManagedBy = this.#isOurs(created);
    if (awaitsCopies(created)) return this.#fetch(delivery, copies.lacking);
    await this.#settle(created, delivery);
    return { is: "here" };
  }

  async #unwanted(spec: JobSpec, namespace: string): Promise<Refusal | undefined> {
    const { acceptance, controller } = this.#options;
    if (controller === "builtin" && spec.manualSelector === true) return TAKES_PODS;
    if (controller !== "builtin" && "scheduling" in spec) return WANTS_GANGS;
    return acceptance.refusal(spec, namespace);
  }

  /** Lets the mirror go on once its copies are here. The hub may have other contents by now: then it is created anew. */
  async provide(mirror: Job, delivery: RunDelivery): Promise<Arrived> {
    if (this.#options.copies.isAwaited(delivery.uid)) return { is: "held" };
    const brought = { ...delivery, references: copiesIn(mirror, delivery) };
    const copies = await this.#options.copies.lacking(brought, mirror.metadata.namespace ?? "", false);
    if ("refusal" in copies) {
      await this.#departure.delete(mirror, "Foreground");
      return { is: "refused", refusal: copies.refusal };
    }
    // It is made anew without them.
    if (copies.without.length > 0) await this.#departure.delete(mirror, "Foreground");
    if (copies.lacking.length > 0 || copies.without.length > 0) return this.#fetch(delivery, copies.lacking);
    await this.#settle(mirror, delivery);
    return { is: "here" };
  }

  #fetch(delivery: RunDelivery, lacking: readonly Lacking[]): Arrived {
    this.#options.copies.fetch(delivery, lacking);
    return { is: "held" };
  }

  /** Before the mirror is created: its pods would hang where nobody looks, and another cluster may have what they need. */
  async #missing({ job, references = [] }: RunDelivery, namespace: string): Promise<Refusal | undefined> {
    const isBrought = (needed: Reference): boolean =>
      references.some(({ kind, name }) => kind === needed.kind && name === needed.name);
    const missing = await this.#presence.missingFor(job.spec.template, namespace, isBrought);
    if (missing.length === 0) return undefined;
    if (missing.some(({ kind }) => kind === "Namespace")) return namespaceMissing(namespace);
    return { reason: "ReferenceMissing", message: missingSentence(missing), missing };
  }

  /**
   * A mirror without `managedBy` would be started at once by the cluster's own Job controller, so whether the API server
   * stores the field is found out by a try that leaves nothing behind; once is enough when it does.
   */
  async #wouldBeOurs(mirror: Job): Promise<boolean> {
    if (this.#keepsManagedBy || this.#options.controller === "builtin") return true;
    const tried = await this.#options.api.create(jobs, mirror.metadata.namespace, mirror, { dryRun: true });
    this.#keepsManagedBy = this.#isOurs(tried);
    return this.#keepsManagedBy;
  }

  #isOurs({ spec }: Job): boolean {
    return this.#options.controller === "builtin" || spec.managedBy === WORKER_MANAGED_BY;
  }

  /**
   * Where the API server was changed since the last create, the cluster's own Job controller has this mirror. It may run it,
   * once and as well as ours, unless it would begin from nothing what earlier epochs have begun.
   */
  async #settle(mirror: Job, delivery: RunDelivery): Promise<void> {
    if (isSeeded(mirror)) return;
    if (this.#isOurs(mirror)) return this.#seed(mirror, delivery);
    await this.#departure.delete(mirror, "Foreground");
    const { namespace, name } = mirror.metadata;
    throw new Error(`waiting for a mirror without managedBy to leave ${namespace}/${name}`);
  }

  /** Makes the mirror of this assignment what its delivery says. */
  async follow(mirror: Job, delivery: RunDelivery): Promise<void> {
    if (!isSeeded(mirror)) await this.#settle(mirror, delivery);
    else if (!isUpToDate(mirror, delivery))
      for (const body of mirrorUpdates(mirror, delivery))
        await this.#options.api.patch(jobs, keyOf(mirror), { type: "merge", body });
  }

  /** A hub has one Job per name: a mirror of another UID under this name stands for a Job that is no more, or for a forgery. */
  async #nameTaken(
    delivery: RunDelivery,
    key: Required<ObjectKey>,
    isHeld: (identity: Identity) => boolean,
  ): Promise<Arrived> {
    const existing = this.#options.proofs.withoutForeignMarks(await this.#options.api.get(jobs, key));
    const identity = identityOf(existing);
    const name = `${key.namespace}/${key.name}`;
    if (identity === undefined) return nameTaken(`a Job ${name} that is not Jobferry's exists on this cluster`);
    if (identity.uid === delivery.uid) {
      if (identity.epoch > delivery.epoch) return { is: "newer", has: identity.epoch };
      const blocked: Arrived = { is: "blocked", by: existing, identity };
      if (identity.epoch < delivery.epoch) return blocked;
      if (awaitsCopies(existing)) return hasCopiesOf(existing, delivery) ? this.provide(existing, delivery) : blocked;
      await this.#settle(existing, delivery);
      return { is: "here" };
    }
    if (identity.revision > delivery.revision || isHeld(identity))
      return nameTaken(`a Job ${name} that stands for another hub Job, UID ${identity.uid}, exists on this cluster`);
    return { is: "blocked", by: existing, identity };
  }

  /** The status first, then the mark goes: a crash in between seeds the same again. */
  async #seed(mirror: Job, delivery: RunDelivery): Promise<void> {
    const { api, controller } = this.#options;
    const seed = seedOf(delivery.carry);
    const key = keyOf(mirror);
    // The version: a cache that does not show the first seed yet must not lead to a second one from other times.
    const { uid, resourceVersion } = mirror.metadata;
    if (seed !== undefined) {
      const { startTime: _, ...withoutStart } = seed;
      const status = controller === "builtin" ? withoutStart : seed;
      await api.patch(
        jobs,
        key,
        { type: "merge", body: { metadata: { uid, resourceVersion }, status } },
        { subresource: "status" },
      );
    }
    const resume = controller === "builtin" ? { spec: { suspend: delivery.job.spec.suspend ?? false } } : {};
    await api.patch(jobs, key, {
      type: "merge",
      body: { metadata: { uid: mirror.metadata.uid, annotations: { [CARRY]: null, [AWAITS]: null } }, ...resume },
    });
  }
}

/** What is optional and cannot be copied stays as its template says: the cluster may have one of its own. */
const withoutThose = (delivery: RunDelivery, { without }: Looked): RunDelivery => ({
  ...delivery,
  references: (delivery.references ?? []).filter(
    ({ kind, name }) => !without.some((one) => one.kind === kind && one.name === name),
  ),
});

const nameTaken = (message: string): Arrived => ({ is: "refused", refusal: { reason: "NameTaken", message } });
