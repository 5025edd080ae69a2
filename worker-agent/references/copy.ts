import { createHmac, timingSafeEqual } from "node:crypto";
import type { Resource } from "@jobferry/shared/kube/api.ts";
import { type ConfigMap, configMaps, type Secret, secrets } from "@jobferry/shared/kube/resources.ts";
import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import { COPY_HASH, COPY_LABEL, COPY_MAC, COPY_OF } from "@jobferry/shared/protocol/marks.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { type Contents, type CopiedKind, copyName, formatContents } from "@jobferry/shared/references/contents.ts";
import type { MirrorKeys } from "../proofs.ts";

/** A ConfigMap or Secret on this cluster. */
export type Copy = ConfigMap & Secret;

export const resourceOf = (kind: CopiedKind): Resource<Copy> =>
  (kind === "ConfigMap" ? configMaps : secrets) as Resource<Copy>;

/** The same without what they hold. */
export const metadataOf = (kind: CopiedKind): Resource => ({ ...(resourceOf(kind) as Resource), metadataOnly: true });

export const isCopy = ({ metadata }: Copy): boolean => metadata.labels?.[COPY_LABEL] !== undefined;

/** Where a copy belongs, and what it is a copy of. */
export interface Place extends ListedReference {
  /** On this cluster. */
  readonly namespace: string;
}

/**
 * Makes copies, and tells them from what somebody else made of them. Copies are immutable; they can still be deleted and made
 * again by whoever may write in their namespace, but not with our MAC.
 */
export class CopyMaker {
  readonly #keys: MirrorKeys;

  constructor(keys: MirrorKeys) {
    this.#keys = keys;
  }

  /** `of`: namespace and name of the original. */
  make(place: Place, contents: Contents, of: string): Copy {
    const [key] = this.#keys;
    return {
      metadata: {
        name: copyName(place.name, place.hash),
        namespace: place.namespace,
        labels: { [COPY_LABEL]: "true" },
        annotations: {
          [COPY_OF]: of,
          [COPY_HASH]: place.hash,
          [COPY_MAC]: mac(key, place, formatContents(contents as Copy)).toString("base64url"),
        },
      },
      ...(contents as Pick<Copy, "type" | "data" | "binaryData">),
      immutable: true,
    } as Copy;
  }

  /** We made it, and it is as we made it. Another agent of this cluster has copies of its own. */
  isOurs(kind: CopiedKind, copy: Copy): boolean {
    return this.isGenuine(copy, placeOf(kind, copy));
  }

  /** It holds what we put there for this hash: everything is compared, not its name. */
  isGenuine(copy: Copy, place: Place): boolean {
    return isCopy(copy) && copy.immutable === true && this.#keys.some((key) => hasMac(copy, key, place));
  }

  /** While keys are changed: the MAC that a genuine copy should have, so that the former key can go. Undefined: it has it. */
  renewed(copy: Copy, place: Place): string | undefined {
    const [key] = this.#keys;
    return hasMac(copy, key, place) ? undefined : mac(key, place, formatContents(copy)).toString("base64url");
  }
}

/** What its annotations say that it is; only our MAC makes it true. */
export const placeOf = (kind: CopiedKind, { metadata: { namespace = "", annotations = {} } }: Copy): Place => ({
  ...{ kind, namespace, name: annotations[COPY_OF]?.split("/")[1] ?? "", hash: annotations[COPY_HASH] ?? "" },
});

function hasMac(copy: Copy, key: Buffer, place: Place): boolean {
  const given = Buffer.from(copy.metadata.annotations?.[COPY_MAC] ?? "", "base64url");
  const made = mac(key, place, formatContents(copy));
  return made.length === given.length && timingSafeEqual(made, given);
}

const mac = (key: Buffer, { kind, namespace, name, hash }: Place, contents: string): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["copy", kind, namespace, name, hash, contents]))
    .digest();

/** Tells a Job that somebody on this cluster changed what its pods use. */
export const copyChanged = (
  { uid, epoch, name }: AssignmentRef & { readonly name: string },
  message: string,
): Report => ({
  ...{ kind: "event", uid, epoch },
  warnings: [{ reason: "CopyChanged", message, count: 1, regarding: { kind: "Job", name } }],
});
