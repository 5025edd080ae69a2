import { isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { withoutManagedFields } from "@jobferry/shared/kube/managed-fields.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { isNewerVersion } from "@jobferry/shared/kube/resource-version.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { ON_OUR_NODE, workerPodUid } from "./projection.ts";

const BY_JOB = "job";
const REMEMBERED = 16_384;

export interface ShadowsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The shadow pods on the hub: what we last saw or wrote of each, whichever is newer, and every write the manager makes on them. */
export class Shadows {
  readonly #options: ShadowsOptions;
  readonly #watched: Reflector<Pod>;
  /** Our writes that the watch has not shown yet, by Job and by key. */
  readonly #written = new Map<HubUid, Map<string, Pod>>();
  /** UIDs of those that we removed and the watch still shows. */
  readonly #removed = new Set<string>();
  /** UIDs that were seen to be deleted gracefully while they lived. */
  readonly #deletionsSeen = new LruMap<string, true>(REMEMBERED);
  /** UIDs of worker pods whose end was shown, and whose shadow somebody else removed. */
  readonly #removedByOthers = new LruMap<string, true>(REMEMBERED);
  /** Those that stand for no pod yet. */
  #early = 0;

  constructor(options: ShadowsOptions) {
    this.#options = options;
    this.#watched = new Reflector({
      ...options,
      resource: pods,
      labelSelector: SHADOW_LABEL,
      // Whoever may create pods can give them the label: those that run on a node of the hub are not ours to touch.
      fieldSelector: ON_OUR_NODE,
      transform: withoutManagedFields,
      indexers: { [BY_JOB]: (pod) => [pod.metadata.labels?.[SHADOW_LABEL] ?? ""] },
    });
  }

  /** Hears of every shadow that changed. */
  onChange(listener: (uid: HubUid) => void): void {
    const changed = (pod: Pod): void => {
      const uid = hubUid.safeParse(pod.metadata.labels?.[SHADOW_LABEL]);
      if (uid.success) listener(uid.data);
    };
    this.#watched.addHandler({
      added: (pod) => {
        this.#early += isEarly(pod);
        changed(pod);
      },
      updated: (before, pod) => {
        this.#early += isEarly(pod) - isEarly(before);
        this.#noteDeletion(before, pod);
        changed(pod);
      },
      deleted: (pod) => {
        this.#early -= isEarly(pod);
        this.#noteEnd(pod);
        changed(pod);
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#watched.start(signal);
  }

  whenSynced(): Promise<void> {
    return this.#watched.whenSynced();
  }

  /** Shadows on the hub that stand for no pod yet, as far as was seen. */
  get early(): number {
    return this.#early;
  }

  of(uid: HubUid): Pod[] {
    const found = new Map<string, Pod>();
    for (const pod of this.#watched.byIndex(BY_JOB, uid)) found.set(nameOf(pod), pod);
    const written = this.#written.get(uid);
    for (const [name, pod] of written ?? []) {
      const seen = found.get(name);
      // The watch has caught up with our write, or shows another pod of this name.
      if (seen !== undefined && !isNewer(pod, seen)) written?.delete(name);
      else found.set(name, pod);
    }
    if (written?.size === 0) this.#written.delete(uid);
    return [...found.values()].filter(({ metadata }) => !this.#removed.has(metadata.uid ?? ""));
  }

  /** The shadow of this name, as far as was seen. */
  get(namespace: string, name: string): Pod | undefined {
    return this.#watched.get(namespace, name);
  }

  sawDeletion(shadow: Pod): boolean {
    return this.#deletionsSeen.peek(shadow.metadata.uid ?? "") === true;
  }

  wasRemoved(podUid: string): boolean {
    return this.#removedByOthers.peek(podUid) === true;
  }

  async create(uid: HubUid, pod: Pod): Promise<void> {
    this.#wrote(uid, await this.#options.api.create(pods, pod.metadata.namespace, pod));
  }

  /** The API server stores metadata that comes with a status write: what marks a shadow as a pod's costs no write of its own. */
  async writeStatus(
    uid: HubUid,
    shadow: Pod,
    { labels, annotations, status }: { labels: object; annotations: object; status: PodStatus },
  ): Promise<void> {
    const metadata = {
      ...shadow.metadata,
      labels: { ...shadow.metadata.labels, ...labels },
      annotations: { ...shadow.metadata.annotations, ...annotations },
    };
    const { qosClass } = shadow.status ?? {};
    const body = { ...shadow, metadata, status: { ...status, ...(qosClass === undefined ? {} : { qosClass }) } };
    this.#wrote(uid, await this.#options.api.replace(pods, keyOf(shadow), body, { subresource: "status" }));
  }

  /** At once, without the grace time that only a kubelet could use. */
  async remove(uid: HubUid, shadow: Pod): Promise<void> {
    const podUid = shadow.metadata.uid ?? "";
    this.#removed.add(podUid);
    try {
      await this.#options.api.delete(pods, keyOf(shadow), { gracePeriodSeconds: 0, preconditions: { uid: podUid } });
    } catch (error) {
      this.#removed.delete(podUid);
      if (!isNotFound(error)) throw error;
    }
    this.#written.get(uid)?.delete(nameOf(shadow));
    // What the watch never showed it will never show to be gone.
    if (this.#watched.get(shadow.metadata.namespace, nameOf(shadow))?.metadata.uid !== podUid)
      this.#removed.delete(podUid);
  }

  forget(uid: HubUid): void {
    this.#written.delete(uid);
  }

  #wrote(uid: HubUid, pod: Pod): void {
    const written = this.#written.get(uid) ?? new Map<string, Pod>();
    this.#written.set(uid, written.set(nameOf(pod), pod));
  }

  #noteDeletion(before: Pod, pod: Pod): void {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, uid = "" } = pod.metadata;
    if (before.metadata.deletionTimestamp !== undefined || deletionTimestamp === undefined) return;
    if (this.#removed.has(uid)) return;
    if (isPodTerminal(pod)) this.#removedByOthers.set(workerPodUid(pod) ?? "", true);
    else if (deletionGracePeriodSeconds > 0) this.#deletionsSeen.set(uid, true);
  }

  #noteEnd(pod: Pod): void {
    const { uid = "" } = pod.metadata;
    const job = hubUid.safeParse(pod.metadata.labels?.[SHADOW_LABEL]).data;
    const written = job === undefined ? undefined : this.#written.get(job);
    if (written?.get(nameOf(pod))?.metadata.uid === uid) written.delete(nameOf(pod));
    const wasOurs = this.#removed.delete(uid);
    if (!wasOurs && isPodTerminal(pod)) this.#removedByOthers.set(workerPodUid(pod) ?? "", true);
  }
}

const isEarly = (pod: Pod): number => (workerPodUid(pod) === undefined ? 1 : 0);

const nameOf = ({ metadata }: Pod): string => metadata.name ?? "";

const keyOf = ({ metadata }: Pod): ObjectKey => ({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" });

const isNewer = ({ metadata: one }: Pod, { metadata: other }: Pod): boolean =>
  isNewerVersion(one.resourceVersion ?? "", other.resourceVersion ?? "");
