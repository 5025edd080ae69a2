import type { Job } from "@jobferry/shared/job/types.ts";
import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { cutIntoPieces } from "@jobferry/shared/references/contents.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Assignment } from "../hub/phase.ts";
import type { HubReferences } from "./hub-references.ts";

export interface AsksOptions {
  readonly references: Pick<HubReferences, "contents">;
  readonly transport: Pick<ManagerTransport, "sendDelivery" | "deliveriesWaiting">;
  readonly logger: Logger;
  /** The hub has other contents than were listed to the cluster. */
  changed(job: Job, assignment: Assignment, reference: ListedReference): void;
  /** The hub has none that may be read. */
  unavailable(job: Job, assignment: Assignment, problem: string): void;
  readonly onRefused?: ((cluster: string, code: string) => void) | undefined;
  readonly onSent?: ((cluster: string, kind: string) => void) | undefined;
}

/** An agent that asks and does not take what it gets must not fill Redis: 64 pieces are 32 MiB. */
const MAX_WAITING = 64;

/** Answers agents that ask for the contents of what a delivery to them lists. */
export class Asks {
  readonly #options: AsksOptions;

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  /** The Job is this cluster's in this epoch: its reports were not read otherwise. An agent that gets no answer asks again. */
  async answer(job: Job, assignment: Assignment, ask: AssignmentRef & { references: readonly ListedReference[] }) {
    const { transport, logger, changed, unavailable } = this.#options;
    const { uid } = ask;
    for (const reference of ask.references) {
      if ((await transport.deliveriesWaiting(assignment.cluster)) > MAX_WAITING) {
        logger.debug(
          { uid, cluster: assignment.cluster },
          "contents not sent: the cluster has not taken the last ones",
        );
        return;
      }
      const kept = await this.#options.references.contents(job, assignment.queue, reference);
      if (kept === "changed") return changed(job, assignment, reference);
      if (kept === "not-listed") this.#refuse(assignment.cluster, uid, reference);
      else if ("problem" in kept) return unavailable(job, assignment, kept.problem);
      else await this.#send(assignment.cluster, ask, reference, kept.contents);
    }
  }

  async #send(cluster: ClusterName, { uid, epoch }: AssignmentRef, reference: ListedReference, contents: string) {
    const pieces = cutIntoPieces(contents);
    if (pieces === undefined) return this.#refuse(cluster, uid, reference);
    for (const [index, text] of pieces.entries())
      await this.#options.transport.sendDelivery(cluster, {
        ...{ kind: "contents", uid, epoch, reference, piece: index + 1, pieces: pieces.length, text },
      });
    this.#options.onSent?.(cluster, reference.kind);
  }

  #refuse(cluster: ClusterName, uid: HubUid, { kind, name }: ListedReference): void {
    this.#options.onRefused?.(cluster, "report/not-listed");
    this.#options.logger.warn({ uid, cluster, kind, name }, "an agent asked for what its delivery does not list");
  }
}
