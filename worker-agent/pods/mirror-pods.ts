import { COMPLETION_INDEX, CONTROLLER_UID_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import { leanPods } from "../lean-pods.ts";
import { identityOf, keyOf, type Mirrors } from "../mirrors.ts";

const PAGE = 500;

/** The pods of mirrors as the API server has them at this moment, for those who read their logs. */
export class MirrorPods {
  readonly #api: Pick<KubeApi, "get" | "list">;
  readonly #mirrors: Pick<Mirrors, "of">;

  constructor(api: Pick<KubeApi, "get" | "list">, mirrors: Pick<Mirrors, "of">) {
    this.#api = api;
    this.#mirrors = mirrors;
  }

  /** Undefined unless this is a pod of that mirror: the hub says which pod, and this side whose. */
  async find(
    ref: AssignmentRef,
    { name, uid }: { name: string; uid: string },
  ): Promise<Required<ObjectKey> | undefined> {
    const mirror = this.#mirror(ref);
    if (mirror === undefined) return undefined;
    const key = { namespace: keyOf(mirror).namespace, name };
    const pod = await this.#api.get(leanPods, key).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    return pod?.metadata.uid === uid && isOf(mirror, pod) ? key : undefined;
  }

  /** A line of JSON for each; undefined where there is no such mirror. */
  async list(ref: AssignmentRef): Promise<Uint8Array | undefined> {
    const mirror = this.#mirror(ref);
    if (mirror === undefined) return undefined;
    const { namespace } = keyOf(mirror);
    // The pods of a selector that was written by hand may lack the label.
    const labelSelector =
      mirror.spec.manualSelector === true ? {} : { labelSelector: `${CONTROLLER_UID_LABEL}=${mirror.metadata.uid}` };
    let lines = "";
    let next: string | undefined;
    do {
      const more = next === undefined ? {} : { continue: next };
      const { items, metadata } = await this.#api.list(leanPods, { namespace, limit: PAGE, ...labelSelector, ...more });
      for (const pod of items) if (isOf(mirror, pod)) lines += `${JSON.stringify(told(pod))}\n`;
      next = metadata.continue;
    } while (next !== undefined && next !== "");
    return Buffer.from(lines);
  }

  #mirror({ uid, epoch }: AssignmentRef): Job | undefined {
    const mirror = this.#mirrors.of(uid).at(-1);
    return mirror !== undefined && identityOf(mirror)?.epoch === epoch ? mirror : undefined;
  }
}

const isOf = ({ metadata: { uid } }: Job, pod: Pod): boolean =>
  pod.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true;

/** What it takes to choose one. */
function told({ metadata, spec, status }: Pod): Pod {
  const { name, uid, creationTimestamp, annotations } = metadata;
  const index = annotations?.[COMPLETION_INDEX];
  return {
    metadata: {
      ...{ name, uid, creationTimestamp },
      ...(index === undefined ? {} : { annotations: { [COMPLETION_INDEX]: index } }),
    } as Pod["metadata"],
    spec: { containers: spec.containers.map((container) => ({ name: container.name })) },
    status: status?.phase === undefined ? {} : { phase: status.phase },
  };
}
