import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { LruMap } from "@jobferry/shared/kube/lru-map.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { events, type KubeEvent, pods } from "@jobferry/shared/kube/resources.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { identityOf, type Mirrors } from "../intake/mirrors.ts";

export interface WarningsOptions {
  api: KubeApi;
  clock: Clock;
  logger: Logger;
  mirrors: Mirrors;
  transport: AgentTransport;
}

/** One warning about one Job is passed on this often; its count tells the rest. */
const REPEAT_MS = 60_000;
const REMEMBERED = 4096;

/**
 * Passes Warning events about mirrors and their pods (scheduling, image pull, crash loops, volumes) on to the hub, where the
 * submitter looks. Only news: an event that repeats is sent again once a minute at most.
 */
export class Warnings {
  readonly #options: WarningsOptions;
  readonly #events: Reflector<KubeEvent>;
  readonly #queue: WorkQueue;
  /** Name of the owning Job by pod UID; null for pods of others. */
  readonly #owners = new LruMap<string, string | null>(REMEMBERED);
  readonly #sent = new LruMap<string, number>(REMEMBERED);

  constructor(options: WarningsOptions) {
    this.#options = options;
    const { api, clock, logger } = options;
    this.#events = new Reflector({ api, clock, logger, resource: events, fieldSelector: "type=Warning" });
    this.#queue = new WorkQueue({
      name: "warnings",
      clock,
      logger,
      concurrency: 4,
      backoff: { baseMs: 1000, maxMs: 60_000 },
      process: (key) => this.#pass(key),
    });
    const note = ({ metadata }: KubeEvent): void => this.#queue.add(`${metadata.namespace}/${metadata.name}`);
    this.#events.addHandler({ added: note, updated: (_, event) => note(event) });
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#queue.start();
    await this.#events.start(signal);
    await this.#queue.stop();
  }

  async #pass(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const event = this.#events.get(namespace, name);
    if (event === undefined) return;
    const now = this.#options.clock.monotonic();
    const sentAt = this.#sent.get(key);
    if (sentAt !== undefined && now - sentAt < REPEAT_MS) return;
    const mirror = await this.#mirrorOf(event, namespace);
    const identity = mirror === undefined ? undefined : identityOf(mirror);
    if (mirror === undefined || identity === undefined) return;
    const { involvedObject, reason, message = "", count = 1, lastTimestamp } = event;
    await this.#options.transport.sendReport({
      v: 1,
      kind: "event",
      uid: identity.uid,
      epoch: identity.epoch,
      seq: Math.max(1, Number(event.metadata.resourceVersion)),
      warnings: [
        {
          reason: (reason ?? "Warning").slice(0, 128) || "Warning",
          message: message.slice(0, 1024),
          count: Math.max(1, count),
          regarding: { kind: involvedObject.kind === "Pod" ? "Pod" : "Job", name: involvedObject.name ?? "" },
          lastTime: lastTimestamp ?? event.metadata.creationTimestamp ?? "",
        },
      ],
    });
    this.#sent.set(key, now);
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
