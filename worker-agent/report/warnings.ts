import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { events, type KubeEvent, pods } from "@jobferry/shared/kube/resources.ts";
import { type MeasureQueue, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { type Identity, identityOf, type Mirrors } from "../mirrors.ts";

export interface WarningsOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  mirrors: Mirrors;
  transport: AgentTransport;
  /** The Job controller could not create a pod of this mirror, this many times since the last call. */
  onFailedCreate(mirror: Job, message: string, times: number): void;
  queueMetrics?: MeasureQueue | undefined;
}

/** Pods of one Job fail in company: what comes within this time is told at once. */
const GATHER_MS = 500;
/** The same warning about one Job is passed on this often at most; its count tells the rest. */
const REPEAT_MS = 60_000;
const REMEMBERED = 4096;

/** Warnings about one Job that say the same, whichever of its pods they are about. */
interface Group {
  readonly identity: Identity;
  /** The first of them. */
  readonly event: KubeEvent;
  /** Not yet told. */
  count: number;
  toldAt: number | undefined;
}

/**
 * Passes Warning events about mirrors and their pods (scheduling, image pull, crash loops, volumes) on to the hub, where the
 * submitter looks. A thousand pods with one trouble are one piece of news.
 */
export class Warnings {
  readonly #options: WarningsOptions;
  readonly #events: Reflector<KubeEvent>;
  readonly #incoming: WorkQueue;
  readonly #outgoing: WorkQueue;
  /** Name of the owning Job by pod UID; null for pods of others. */
  readonly #owners = new LruMap<string, string | null>(REMEMBERED);
  /** How often each event was counted, in its group and as a failed start; what was there before us is not a try of today. */
  readonly #counted = new LruMap<string, number>(REMEMBERED);
  readonly #tried = new LruMap<string, number>(REMEMBERED);
  readonly #groups = new LruMap<string, Group>(REMEMBERED);

  constructor(options: WarningsOptions) {
    this.#options = options;
    const { api, clock, random, logger } = options;
    this.#events = new Reflector({ api, clock, random, logger, resource: events, fieldSelector: "type=Warning" });
    const metrics = options.queueMetrics;
    const common = { clock, logger, metrics, concurrency: 4, backoff: { baseMs: 1000, maxMs: 60_000 } };
    this.#incoming = new WorkQueue({ ...common, name: "warnings", process: (key) => this.#gather(key) });
    this.#outgoing = new WorkQueue({ ...common, name: "warnings-out", process: (key) => this.#tell(key) });
    const note = (event: KubeEvent): void => {
      const key = `${event.metadata.namespace}/${event.metadata.name}`;
      if (!this.#events.hasSynced) this.#tried.set(key, countOf(event));
      this.#incoming.add(key);
    };
    this.#events.addHandler({ added: note, updated: (_, event) => note(event) });
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#incoming.start();
    this.#outgoing.start();
    await this.#events.start(signal);
    await Promise.all([this.#incoming.stop(), this.#outgoing.stop()]);
  }

  async #gather(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const event = this.#events.get(namespace, name);
    if (event === undefined) return;
    const mirror = await this.#mirrorOf(event, namespace);
    const identity = mirror === undefined ? undefined : identityOf(mirror);
    if (mirror === undefined || identity === undefined) return;
    const { reason, message = "" } = event;
    const tries = newOf(this.#tried, key, event);
    if (reason === "FailedCreate" && tries > 0) this.#options.onFailedCreate(mirror, message, tries);
    const times = newOf(this.#counted, key, event);
    if (times === 0) return;
    const said = JSON.stringify([identity.uid, identity.epoch, reason, withoutPodNames(message, mirror)]);
    const group = this.#groups.getOrAdd(said, () => ({ identity, event, count: 0, toldAt: undefined }));
    group.count += times;
    const dueMs = group.toldAt === undefined ? 0 : group.toldAt + REPEAT_MS - this.#options.clock.monotonic();
    this.#outgoing.addAfter(said, Math.max(GATHER_MS, dueMs));
  }

  async #tell(said: string): Promise<void> {
    const group = this.#groups.get(said);
    if (group === undefined || group.count === 0) return;
    const { identity, event, count } = group;
    const { involvedObject, reason, message = "" } = event;
    await this.#options.transport.sendReport({
      kind: "event",
      uid: identity.uid,
      epoch: identity.epoch,
      warnings: [
        {
          reason: (reason ?? "Warning").slice(0, 128) || "Warning",
          message: message.slice(0, 1024),
          count,
          regarding: { kind: involvedObject.kind === "Pod" ? "Pod" : "Job", name: involvedObject.name ?? "" },
        },
      ],
    });
    group.count -= count;
    group.toldAt = this.#options.clock.monotonic();
  }

  async #mirrorOf({ involvedObject }: KubeEvent, namespace: string): Promise<Job | undefined> {
    const { kind, name = "", uid = "" } = involvedObject;
    if (kind === "Job") return this.#options.mirrors.reflector.get(namespace, name);
    if (kind !== "Pod") return undefined;
    let owner = this.#owners.get(uid);
    if (owner === undefined) {
      owner = await this.#ownerOf(namespace, name, uid);
      this.#owners.set(uid, owner);
    }
    return owner === null ? undefined : this.#options.mirrors.reflector.get(namespace, owner);
  }

  async #ownerOf(namespace: string, name: string, uid: string): Promise<string | null> {
    try {
      const pod: Pod = await this.#options.api.get(pods, { namespace, name });
      if (pod.metadata.uid !== uid) return null;
      return (
        pod.metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === "Job")?.name ??
        null
      );
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }
}

const countOf = ({ count = 1 }: KubeEvent): number => Math.max(1, count);

/** How often the event happened since it was last asked for. */
function newOf(known: LruMap<string, number>, key: string, event: KubeEvent): number {
  const count = countOf(event);
  const before = known.get(key) ?? 0;
  known.set(key, count);
  return Math.max(0, count - before);
}

/** Pods are named after their Job; what differs in the rest of the name is not what a warning is about. */
const withoutPodNames = (message: string, { metadata: { name = "" } }: Job): string =>
  message.replaceAll(new RegExp(`${name.replaceAll(".", "\\.")}-[a-z0-9-]*`, "g"), "");
