import { timingSafeEqual } from "node:crypto";
import { hashOf, type LogReading, logReadings, TICKET_MS } from "@jobferry/shared/api/log-readings.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

/** Who has a ticket may read the logs of one Job: the hub's API server let nobody make it who may not. */
export class Tickets {
  readonly #api: Pick<KubeApi, "get" | "list" | "delete">;
  readonly #clock: Clock;

  constructor(api: Pick<KubeApi, "get" | "list" | "delete">, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** The Job whose logs this ticket opens. */
  async jobOf(key: Required<ObjectKey>, ticket: string): Promise<string | undefined> {
    const reading = await this.#api.get(logReadings, key).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (reading === undefined || this.#isOver(reading)) return undefined;
    const [wanted, given] = [reading.spec.ticketHash, hashOf(ticket)].map((hash) => Buffer.from(hash));
    if (wanted === undefined || given === undefined || wanted.length !== given.length) return undefined;
    return timingSafeEqual(wanted, given) ? reading.spec.job : undefined;
  }

  /** Removes those that open nothing any more. */
  async sweep(): Promise<void> {
    for (const { metadata } of (await this.#api.list(logReadings)).items.filter((reading) => this.#isOver(reading))) {
      const { namespace = "", name = "", uid = "" } = metadata;
      await this.#api.delete(logReadings, { namespace, name }, { preconditions: { uid } }).catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    }
  }

  #isOver({ metadata: { creationTimestamp = "" } }: LogReading): boolean {
    return !(this.#clock.now() - Date.parse(creationTimestamp) < TICKET_MS);
  }
}
