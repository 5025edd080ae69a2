import { createHmac, hkdfSync } from "node:crypto";
import type { OwnKeys } from "@jobferry/shared/protocol/keys.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";

/**
 * Names contents without telling anything about them: a plain hash of a weak secret could be guessed by whoever sees it. Under a
 * new key of the manager equal contents have another name; copies are then made once more.
 */
export class Hashes {
  readonly #keys: readonly Buffer[];

  constructor(keys: OwnKeys) {
    this.#keys = keys.map(({ privateKey }) => {
      const secret = privateKey.export({ type: "pkcs8", format: "der" });
      return Buffer.from(hkdfSync("sha256", secret, "", "jobferry references", 32));
    });
  }

  of(kind: CopiedKind, contents: string): string {
    return this.all(kind, contents)[0] ?? "";
  }

  /** By each key of the manager, the one in use first. */
  all(kind: CopiedKind, contents: string): string[] {
    return this.#keys.map((key) => createHmac("sha256", key).update(`${kind}\n${contents}`).digest("hex"));
  }
}
