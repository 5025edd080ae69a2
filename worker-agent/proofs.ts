import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { keptSecret } from "@jobferry/shared/kube/kept-secret.ts";
import { EPOCH, HUB_UID_LABEL, PROOF } from "@jobferry/shared/protocol/marks.ts";

/** The first makes proofs; all are accepted, so that a key can be rotated. */
export type MirrorKeys = readonly [Buffer, ...Buffer[]];

const KEY_BYTES = 32;
const MAX_KEYS = 2;

export const generateMirrorKey = (): string => randomBytes(KEY_BYTES).toString("base64url");

/** One key per line, 32 bytes in base64url. */
export function parseMirrorKeys(text: string): MirrorKeys {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const [first, ...others] = lines.map((line) => {
    const key = Buffer.from(line.trim(), "base64url");
    if (key.length !== KEY_BYTES || !/^[\w-]+$/.test(line.trim()))
      throw new Error("a mirror key is 32 bytes in base64url");
    return key;
  });
  if (first === undefined || others.length >= MAX_KEYS)
    throw new Error("one mirror key is needed, or two while it is changed");
  return [first, ...others];
}

const SECRET = "jobferry-mirror-key";
const FIELD = "mirror-key";

/**
 * The keys of this cluster's agent, which makes the first one itself: nobody else ever has it, and an agent that is enrolled anew
 * still knows its mirrors.
 */
export async function readMirrorKeys(api: KubeApi, namespace: string): Promise<MirrorKeys> {
  try {
    const kept = await keptSecret(api, { namespace, name: SECRET }, () => ({ [FIELD]: generateMirrorKey() }));
    return parseMirrorKeys(kept[FIELD] ?? "");
  } catch (cause) {
    const fix = isNotFound(cause) || isForbidden(cause) ? "; `kubectl apply -k deploy/worker` makes what it needs" : "";
    throw new Error(`Secret ${namespace}/${SECRET} cannot be used: ${(cause as Error).message}${fix}`, { cause });
  }
}

/**
 * Tells this agent's mirrors from Jobs that somebody else gave a mirror's label. Whoever may create Jobs on this cluster may copy
 * labels and annotations; a proof holds for one hub UID under one namespace and name, so that a copy elsewhere proves nothing.
 */
export class Proofs {
  /** As key objects: Node takes eight times as long for a MAC whose key is a Buffer, and every change of a mirror needs one. */
  readonly #keys: readonly [KeyObject, ...KeyObject[]];
  /** A Job as it came from the API server never changes; its proof is checked once. */
  readonly #known = new WeakMap<Job, number>();

  constructor([first, ...others]: MirrorKeys) {
    this.#keys = [createSecretKey(first), ...others.map((key) => createSecretKey(key))];
  }

  make(uid: string, namespace: string, name: string): string {
    return mac(this.#keys[0], uid, namespace, name).toString("base64url");
  }

  /** Its proof is by the key that is used now. */
  isCurrent(mirror: Job): boolean {
    return this.#keyOf(mirror) === 0;
  }

  /** Labelled as a mirror, and not ours: another agent's, or a forgery. */
  isForeign(job: Job): boolean {
    return job.metadata.labels?.[HUB_UID_LABEL] !== undefined && this.#keyOf(job) < 0;
  }

  /** The Job as it may be looked at here: without a proof of ours it has no marks, and is therefore nobody's mirror. */
  withoutForeignMarks(job: Job): Job {
    return this.isForeign(job) ? stripped(job) : job;
  }

  /** The place of the key that its proof was made with; -1: none of ours. */
  #keyOf(job: Job): number {
    let key = this.#known.get(job);
    if (key === undefined) {
      key = this.#check(job);
      this.#known.set(job, key);
    }
    return key;
  }

  #check({ metadata }: Job): number {
    const given = Buffer.from(metadata.annotations?.[PROOF] ?? "", "base64url");
    const { [HUB_UID_LABEL]: uid = "" } = metadata.labels ?? {};
    return this.#keys.findIndex((key) => {
      const made = mac(key, uid, metadata.namespace ?? "", metadata.name ?? "");
      return made.length === given.length && timingSafeEqual(made, given);
    });
  }
}

function stripped(job: Job): Job {
  const { [HUB_UID_LABEL]: _, ...labels } = job.metadata.labels ?? {};
  const { [EPOCH]: __, ...annotations } = job.metadata.annotations ?? {};
  return { ...job, metadata: { ...job.metadata, labels, annotations } };
}

const mac = (key: KeyObject, uid: string, namespace: string, name: string): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["jobferry mirror", uid, namespace, name]))
    .digest();
