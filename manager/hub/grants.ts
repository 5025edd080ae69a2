import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";

/** What an assignment says of its Job. `cluster` is empty where only the epoch is kept, of a Job that waits again. */
export interface Granted {
  readonly cluster: string;
  readonly epoch: Epoch;
  /** The queue that it was placed by, and is booked under. */
  readonly queue: string;
  readonly stopAfterSeconds?: number | undefined;
}

/**
 * Tells assignments of the manager from those that somebody else wrote on a Job. Whoever may edit a Job may edit its annotations;
 * only the manager can make the MAC that goes with them.
 */
export class Grants {
  /** As key objects: Node takes eight times as long for a MAC whose key is a Buffer. */
  readonly #keys: readonly KeyObject[];

  /** The manager's private keys: the first one makes MACs, all are accepted, so that a key can be rotated. */
  constructor(keys: readonly KeyObject[]) {
    this.#keys = keys.map((key) => {
      const secret = key.export({ type: "pkcs8", format: "der" });
      return createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "jobferry assignment", 32)));
    });
  }

  make(uid: HubUid, granted: Granted): string {
    const [key] = this.#keys;
    if (key === undefined) throw new Error("a manager has at least one key");
    return mac(key, uid, granted).toString("base64url");
  }

  /** Undefined: not ours. `old`: made with a key that is on its way out. */
  check(uid: HubUid, granted: Granted, grant: string): "current" | "old" | undefined {
    const given = Buffer.from(grant, "base64url");
    const index = this.#keys.findIndex((key) => {
      const made = mac(key, uid, granted);
      return made.length === given.length && timingSafeEqual(made, given);
    });
    return index < 0 ? undefined : index === 0 ? "current" : "old";
  }
}

const mac = (key: KeyObject, uid: HubUid, { cluster, epoch, queue, stopAfterSeconds = 0 }: Granted): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([uid, cluster, epoch, queue, stopAfterSeconds]))
    .digest();
