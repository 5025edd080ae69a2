import type { Job } from "@jobferry/shared/job/types.ts";
import type { AssignmentDelivery, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { ProtocolError } from "@jobferry/shared/protocol/errors.ts";
import { SEQ } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import { MAX_PRIORITY, type ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { type Assignment, uidOf } from "../hub/phase.ts";
import { shiftTimes } from "../hub/times.ts";

export type Desired =
  | { readonly desired: "run" }
  /** The hub Job is being deleted. */
  | { readonly desired: "delete"; readonly propagationPolicy: "Foreground" | "Orphan" }
  /** The Job moves on: stop, report, let go. */
  | { readonly desired: "hand-over" };

/** The cluster that a message is for. */
interface Receiver {
  revisionOf(hubRevision: number): number;
  readonly aheadMs: number;
}

export interface OutboxOptions {
  readonly transport: Pick<ManagerTransport, "sendDelivery">;
  readonly clusters: { get(name: ClusterName): Receiver | undefined };
  /** The more important Jobs go first; all alike unless given. */
  readonly priorityOf?: (job: Job, queue: string) => number;
  /** How many pods of the Job are shown on the hub; none unless given. */
  readonly shadowPodsOf?: (job: Job) => number;
}

/**
 * Tells agents what should be true of their Jobs. A delivery is the whole truth about one assignment, so sending it again is
 * always right; remembering what was sent only saves messages, and is forgotten whenever there is reason to doubt that it arrived.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #sent = new Map<HubUid, string>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Sends unless the very same was sent before; whether it did. `list` is called only then: what travels with the Job, or
   * undefined where nothing can be sent yet.
   */
  async deliver(
    job: Job,
    assignment: Assignment,
    desired: Desired,
    list: () => Promise<readonly ListedReference[] | undefined> = async () => [],
  ): Promise<boolean> {
    const uid = uidOf(job);
    const shadowPods = this.#options.shadowPodsOf?.(job) ?? 0;
    const version = JSON.stringify([assignment, job.metadata.generation, desired, shadowPods]);
    if (this.#sent.get(uid) === version) return false;
    const { cluster } = assignment;
    const receiver = this.#options.clusters.get(cluster);
    if (receiver === undefined) return false;
    const references = desired.desired === "run" ? await list() : [];
    if (references === undefined) return false;
    const delivery = compose(job, assignment, desired, { receiver, shadowPods, references });
    const priority = this.#priorityOf(job, assignment, desired);
    const send = (one: AssignmentDelivery): Promise<void> =>
      this.#options.transport.sendDelivery(cluster, one, priority);
    await send(delivery).catch((error: unknown) => {
      const isTooLarge = error instanceof ProtocolError && error.code === "protocol/too-large";
      if (!isTooLarge || delivery.desired !== "run" || !hasMirror(job, assignment)) throw error;
      return send(withoutBallast(delivery));
    });
    this.#sent.set(uid, version);
    return true;
  }

  /** An agent takes ends first, then the more important Jobs. */
  #priorityOf(job: Job, { queue }: Assignment, { desired }: Desired): number | undefined {
    return desired === "run" ? MAX_PRIORITY - (this.#options.priorityOf?.(job, queue) ?? 0) : undefined;
  }

  /** Everything that the mirror achieved is stored on the hub: it may go. */
  async release(uid: HubUid, { cluster, epoch }: Pick<Assignment, "cluster" | "epoch">): Promise<void> {
    this.#sent.delete(uid);
    await this.#options.transport.sendDelivery(cluster, { kind: "release", uid, epoch });
  }

  /** The Job is over, or it may not have arrived: the next `deliver` sends. */
  forget(uid: HubUid): void {
    this.#sent.delete(uid);
  }

  /** Nothing that was sent so far can be taken for received. */
  forgetAll(): void {
    this.#sent.clear();
  }
}

function compose(
  job: Job,
  { epoch, stopAfterSeconds, admitted }: Assignment,
  desired: Desired,
  {
    receiver,
    shadowPods,
    references,
  }: { receiver: Receiver; shadowPods: number; references: readonly ListedReference[] },
): AssignmentDelivery {
  const { metadata, spec, status } = job;
  const revision = receiver.revisionOf(Number(metadata.resourceVersion));
  const about = { kind: "assignment", uid: uidOf(job), epoch, revision } as const;
  // Ending a Job must be possible however large it has grown: no more than its name is sent.
  if (desired.desired !== "run") return { ...about, ...desired };
  return {
    ...about,
    desired: "run",
    generation: metadata.generation ?? 0,
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    job: {
      spec: withinAdmitted(spec, admitted),
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
    },
    ...(status === undefined ? {} : { carry: shiftTimes(status, receiver.aheadMs) }),
    ...(stopAfterSeconds === undefined ? {} : { stopAfterSeconds }),
    ...(shadowPods === 0 ? {} : { shadowPods }),
    // An agent that does not know of them would run the Job without: it must not take it.
    ...(references.length === 0 ? {} : { references: [...references], critical: ["references"] }),
  };
}

/** Its agent has reported on it in this epoch. */
const hasMirror = ({ metadata }: Job, { epoch }: Assignment): boolean =>
  metadata.annotations?.[SEQ]?.startsWith(`${epoch}:`) === true;

/** What a mirror takes only when it is created. A Job that has grown since must still be stopped, or made smaller. */
function withoutBallast({ carry: _, ...delivery }: RunDelivery): RunDelivery {
  return { ...delivery, job: { spec: delivery.job.spec } };
}

/** No more pods at a time than its quota had room for. */
function withinAdmitted(spec: Job["spec"], admitted: Assignment["admitted"]): Job["spec"] {
  const held = typeof admitted === "number" && (spec.parallelism ?? 1) > admitted;
  return held ? { ...spec, parallelism: admitted } : spec;
}
