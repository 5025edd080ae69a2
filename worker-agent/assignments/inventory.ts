import type { AssignmentRef, ListedAssignment } from "@jobferry/shared/protocol/delivery.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";

/** All that is this cluster's by a manager that has heard us since we were started, cut off or stood still. */
export class Inventory {
  /** The hub's revision up to which it is complete. */
  readonly asOf: number;
  readonly assignments: readonly ListedAssignment[];
  readonly #epochs: ReadonlyMap<HubUid, Epoch>;

  constructor(asOf: number, assignments: readonly ListedAssignment[]) {
    this.asOf = asOf;
    this.assignments = assignments;
    this.#epochs = new Map(assignments.map(({ uid, epoch }) => [uid, epoch]));
  }

  lists({ uid, epoch }: AssignmentRef): boolean {
    return this.#epochs.get(uid) === epoch;
  }

  /** What was said of this revision still stands, as far as the manager can tell. */
  confirms(said: AssignmentRef & { readonly revision: number }): boolean {
    return said.revision > this.asOf || this.lists(said);
  }

  /** It is not ours any more. A hub that knows only an earlier epoch has forgotten some of its past: that ends nothing. */
  disowns(said: AssignmentRef & { readonly revision: number }): boolean {
    const listed = this.#epochs.get(said.uid);
    return said.revision <= this.asOf && (listed === undefined || listed > said.epoch);
  }
}
