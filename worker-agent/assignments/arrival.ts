import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import type { AssignmentRef, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { CARRY, WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import { identityOf } from "../mirrors.ts";
import { type Departure, keyOf } from "./departure.ts";
import { isSeeded, isUpToDate, type MirrorOptions, mirrorUpdate, newMirror, seedOf } from "./mirror-spec.ts";
import { type Refusal, refusalOf } from "./refusal.ts";

export interface ArrivalOptions extends MirrorOptions {
  api: KubeApi;
  /** Tells the manager that this cluster cannot have the mirror. */
  refuse(delivery: AssignmentRef, refusal: Refusal): Promise<void>;
}

const DROPS_MANAGED_BY: Refusal = {
  reason: "ManagedByUnsupported",
  message:
    "this API server drops spec.managedBy; switch its feature gate JobManagedBy on (it is from Kubernetes 1.32 on), or run the agent with --controller=builtin",
};

/** How mirrors come to this cluster and follow their Jobs. Each call resolves once nothing is left to do, and may be made again. */
export class Arrival {
  readonly #options: ArrivalOptions;
  readonly #departure: Departure;
  readonly #displaced: (uid: HubUid) => void;
  #keepsManagedBy = false;

  /** `displaced` hears of Jobs that must be gone from the hub, because another has their name. */
  constructor(options: ArrivalOptions, departure: Departure, displaced: (uid: HubUid) => void) {
    this.#options = options;
    this.#departure = departure;
    this.#displaced = displaced;
  }

  async create(delivery: RunDelivery): Promise<void> {
    const { api, refuse } = this.#options;
    const mirror = newMirror(delivery, this.#options);
    const namespace = mirror.metadata.namespace ?? "";
    let created: Job | undefined;
    try {
      if (await this.#wouldBeOurs(mirror)) created = await api.create(jobs, namespace, mirror);
    } catch (error) {
      if (isAlreadyExists(error)) return this.#nameTaken(delivery, { namespace, name: delivery.name });
      const refusal = refusalOf(error, namespace);
      if (refusal === undefined) throw error;
      return refuse(delivery, refusal);
    }
    if (created === undefined) return refuse(delivery, DROPS_MANAGED_BY);
    this.#keepsManagedBy = this.#isOurs(created);
    await this.#settle(created, delivery);
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
      await this.#options.api.patch(jobs, keyOf(mirror), { type: "merge", body: mirrorUpdate(mirror, delivery) });
  }

  /** A hub has one Job per name: a mirror of another UID under this name stands for a Job that is no more. */
  async #nameTaken(delivery: RunDelivery, key: Required<ObjectKey>): Promise<void> {
    const existing = await this.#options.api.get(jobs, key);
    const identity = identityOf(existing);
    if (identity === undefined) {
      const message = `a Job ${key.namespace}/${key.name} that is not Jobferry's exists on this cluster`;
      return this.#options.refuse(delivery, { reason: "NameTaken", message });
    }
    if (identity.uid === delivery.uid && identity.epoch === delivery.epoch) return this.#settle(existing, delivery);
    if (identity.revision > delivery.revision) return;
    if (identity.uid !== delivery.uid) this.#displaced(identity.uid);
    await this.#departure.delete(existing, "Foreground");
    throw new Error(`waiting for the mirror of hub Job ${identity.uid} to leave ${key.namespace}/${key.name}`);
  }

  /** The status first, then the mark goes: a crash in between seeds the same again. */
  async #seed(mirror: Job, delivery: RunDelivery): Promise<void> {
    const { api, controller } = this.#options;
    const seed = seedOf(delivery.carry);
    const key = keyOf(mirror);
    if (seed !== undefined) {
      const { startTime: _, ...withoutStart } = seed;
      const status = controller === "builtin" ? withoutStart : seed;
      await api.patch(
        jobs,
        key,
        { type: "merge", body: { metadata: { uid: mirror.metadata.uid }, status } },
        { subresource: "status" },
      );
    }
    const resume = controller === "builtin" ? { spec: { suspend: delivery.job.spec.suspend ?? false } } : {};
    await api.patch(jobs, key, {
      type: "merge",
      body: { metadata: { uid: mirror.metadata.uid, annotations: { [CARRY]: null } }, ...resume },
    });
  }
}
