import type { Job } from "@jobferry/shared/job/types.ts";
import type { AssignmentDelivery } from "@jobferry/shared/protocol/delivery.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { type Assignment, uidOf } from "../claim/hub-job.ts";

export type Desired =
  | { readonly desired: "run" }
  /** The hub Job is being deleted. */
  | { readonly desired: "delete"; readonly propagationPolicy: "Foreground" | "Orphan" }
  /** The Job moves on: stop, report, let go. */
  | { readonly desired: "hand-over" };

/**
 * Tells agents what should be true of their Jobs. A delivery is the whole truth about one assignment, so sending it again is
 * always right; remembering what was sent only saves messages, and is forgotten whenever there is reason to doubt that it arrived.
 */
export class Outbox {
  readonly #transport: ManagerTransport;
  readonly #sent = new Map<HubUid, string>();

  constructor(transport: ManagerTransport) {
    this.#transport = transport;
  }

  /** Sends unless the very same was sent before. */
  async deliver(job: Job, assignment: Assignment, desired: Desired): Promise<void> {
    const uid = uidOf(job);
    const version = JSON.stringify([assignment, job.metadata.generation, desired]);
    if (this.#sent.get(uid) === version) return;
    await this.#transport.sendDelivery(assignment.cluster, compose(job, assignment, desired));
    this.#sent.set(uid, version);
  }

  async release(uid: HubUid, { cluster, epoch }: Assignment): Promise<void> {
    this.#sent.delete(uid);
    await this.#transport.sendDelivery(cluster, { kind: "release", uid, epoch });
  }

  /** It may not have arrived: the next `deliver` sends. */
  doubt(uid: HubUid): void {
    this.#sent.delete(uid);
  }

  doubtAll(): void {
    this.#sent.clear();
  }
}

function compose(job: Job, { epoch, stopAfterSeconds }: Assignment, desired: Desired): AssignmentDelivery {
  const { metadata, spec, status } = job;
  const about = { kind: "assignment", uid: uidOf(job), epoch, revision: Number(metadata.resourceVersion) } as const;
  // Ending a Job must be possible however large it has grown: no more than its name is sent.
  if (desired.desired !== "run") return { ...about, ...desired };
  return {
    ...about,
    desired: "run",
    generation: metadata.generation ?? 0,
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    job: {
      spec,
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
    },
    ...(status === undefined ? {} : { carry: status }),
    ...(stopAfterSeconds === undefined ? {} : { stopAfterSeconds }),
  };
}
