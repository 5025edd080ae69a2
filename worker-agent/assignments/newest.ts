import type { AssignmentDelivery, AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";

/** Jobs whose last delivery is remembered after it was dealt with. */
const REMEMBERED = 16_384;

/**
 * The newest delivery of each Job, also when it has been dealt with. Messages may be late, or come twice: what is older than
 * the newest, or wants to run what has ended in this epoch, is an echo (within one epoch an end is final).
 */
export class NewestDeliveries {
  readonly #newest = new LruMap<HubUid, { epoch: number; revision: number; over: boolean }>(REMEMBERED);

  /** False: an echo, to be dropped. */
  take({ uid, epoch, revision, desired }: AssignmentDelivery): boolean {
    const known = this.#newest.get(uid);
    if (known !== undefined && epoch <= known.epoch) {
      if (epoch < known.epoch || revision < known.revision || (known.over && desired === "run")) return false;
    }
    this.#newest.set(uid, { epoch, revision, over: desired !== "run" });
    return true;
  }

  /** Nothing of this epoch is to run again. */
  end({ uid, epoch }: AssignmentRef): void {
    const known = this.#newest.get(uid);
    if (known === undefined || known.epoch <= epoch)
      this.#newest.set(uid, { epoch, revision: known?.revision ?? 0, over: true });
  }
}
