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

/** What a Job was let in with, in the epoch of its assignment. */
interface LetIn {
  readonly epoch: Epoch;
  readonly parallelism: number;
  /** What its pods request, as they say it. */
  readonly resources: string;
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
    return this.#make(grantText(uid, granted));
  }

  makeLetIn(uid: HubUid, letIn: LetIn): string {
    return this.#make(letInText(uid, letIn));
  }

  /** Undefined: not ours. `old`: made with a key that is on its way out. */
  check(uid: HubUid, granted: Granted, grant: string): "current" | "old" | undefined {
    const index = this.#keyOf(grantText(uid, granted), grant);
    return index < 0 ? undefined : index === 0 ? "current" : "old";
  }

  checkLetIn(uid: HubUid, letIn: LetIn, given: string): boolean {
    return this.#keyOf(letInText(uid, letIn), given) >= 0;
  }

  #make(text: string): string {
    const [key] = this.#keys;
    if (key === undefined) throw new Error("a manager has at least one key");
    return mac(key, text).toString("base64url");
  }

  /** The place of the key that it was made with; -1: none of ours. */
  #keyOf(text: string, given: string): number {
    const bytes = Buffer.from(given, "base64url");
    return this.#keys.findIndex((key) => {
      const made = mac(key, text);
      return made.length === bytes.length && timingSafeEqual(made, bytes);
    });
  }
}

const grantText = (uid: HubUid, { cluster, epoch, queue, stopAfterSeconds = 0 }: Granted): string =>
  JSON.stringify([uid, cluster, epoch, queue, stopAfterSeconds]);

const letInText = (uid: HubUid, { epoch, parallelism, resources }: LetIn): string =>
  JSON.stringify(["let in", uid, epoch, parallelism, resources]);

const mac = (key: KeyObject, text: string): Buffer => createHmac("sha256", key).update(text).digest();
