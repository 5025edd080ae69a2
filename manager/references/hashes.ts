import { createHmac, hkdfSync } from "node:crypto";
import type { OwnKeys } from "@jobferry/shared/protocol/keys.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";

/**
 * Names contents without telling anything about them: a plain hash of a weak secret could be guessed by whoever sees it. Under a
 * new key of the manager equal contents have another name; copies are then made once more.
 */
export class Hashes {
  readonly #key: Buffer;

  constructor([{ privateKey }]: OwnKeys) {
    const secret = privateKey.export({ type: "pkcs8", format: "der" });
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "jobferry references", 32));
  }

  of(kind: CopiedKind, contents: string): string {
    return createHmac("sha256", this.#key).update(`${kind}\n${contents}`).digest("hex");
  }
}
