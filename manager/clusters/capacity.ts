import type { Amounts } from "@jobferry/shared/job/requests.ts";
import { resourceUnits } from "@jobferry/shared/job/requests.ts";

/**
 * How much room a cluster has, between two reports of its agent. What is placed there in the meantime is taken off at once,
 * or a burst would go to the first cluster whole; the agent's next figures replace the guess as far as they cover it.
 */
export class Capacity {
  #free: Amounts | undefined;
  #largestFreeNode: Amounts | undefined;
  #largestNode: Amounts | undefined;
  /** Placed since the last report: what each Job will ask for. */
  readonly #reserved = new Map<string, { amounts: Amounts; round: number }>();
  /** Sum of all reservations. */
  readonly #taken = new Map<string, number>();
  #round = 0;

  report(lists: {
    free: Readonly<Record<string, string>>;
    largestFreeNode: Readonly<Record<string, string>>;
    largestNode: Readonly<Record<string, string>>;
  }): void {
    this.#free = amountsOf(lists.free);
    this.#largestFreeNode = amountsOf(lists.largestFreeNode);
    this.#largestNode = amountsOf(lists.largestNode);
    this.#round++;
    // A reservation is kept over one more report: the first may have been on its way before the Job arrived.
    for (const [uid, { round }] of this.#reserved) if (this.#round - round >= 2) this.cancel(uid);
  }

  reserve(uid: string, perPod: Amounts, pods: number): void {
    this.cancel(uid);
    const amounts = new Map([...perPod].map(([resource, amount]) => [resource, amount * pods]));
    this.#reserved.set(uid, { amounts, round: this.#round });
    this.#take(amounts, 1);
  }

  cancel(uid: string): void {
    const reservation = this.#reserved.get(uid);
    if (reservation === undefined) return;
    this.#reserved.delete(uid);
    this.#take(reservation.amounts, -1);
  }

  get free(): Amounts | undefined {
    if (this.#free === undefined || this.#reserved.size === 0) return this.#free;
    return new Map(
      [...this.#free].map(([resource, amount]) => [resource, Math.max(0, amount - (this.#taken.get(resource) ?? 0))]),
    );
  }

  #take(amounts: Amounts, sign: 1 | -1): void {
    for (const [resource, amount] of amounts)
      this.#taken.set(resource, (this.#taken.get(resource) ?? 0) + sign * amount);
  }

  get largestFreeNode(): Amounts | undefined {
    return this.#largestFreeNode;
  }

  get largestNode(): Amounts | undefined {
    return this.#largestNode;
  }
}

const amountsOf = (list: Readonly<Record<string, string>>): Amounts =>
  new Map(Object.entries(list).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
