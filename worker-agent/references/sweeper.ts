import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isConflict, isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import { COPY_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type CopyKey, copyKeysOf, type Mirrors } from "../mirrors.ts";
import type { Copies } from "./copies.ts";
import { type Copy, type CopyMaker, metadataOf, resourceOf } from "./copy.ts";

export interface SweeperOptions {
  api: Pick<KubeApi, "get" | "list" | "delete">;
  clock: Clock;
  logger: Logger;
  mirrors: Pick<Mirrors, "reflector" | "use">;
  copies: Pick<Copies, "isPinned" | "removing">;
  maker: Pick<CopyMaker, "isOurs">;
  /** The namespaces that may have copies, for an agent that may not look everywhere. */
  served(): Promise<readonly string[]>;
}

/** For what nobody saw the last mirror of: it went while no agent ran, or was never created. */
const SWEEP_MS = 10 * 60_000;
/** Copies come without their contents. */
const PAGE = 500;
/** The next run of a CronJob, or of a retry, uses the same copy. */
const LINGER_MS = 1_000;
const PINNED_MS = 60_000;

/**
 * Removes copies that no mirror refers to. They have no owners: a copy that a thousand Jobs share would be written a thousand
 * times. A copy is listed by its mirrors' templates, from before it exists until the last of them is gone.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #queue: WorkQueue;
  #cancel = (): void => {};
  #stopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    const { clock, logger, mirrors } = options;
    this.#queue = new WorkQueue({
      ...{ name: "copies", clock, logger, concurrency: 4 },
      backoff: { baseMs: 1_000, maxMs: 60_000 },
      process: (key) => this.#sweep(key as CopyKey),
    });
    mirrors.reflector.addHandler({ deleted: (mirror) => this.#left(mirror) });
  }

  start(): void {
    this.#queue.start();
    this.#round();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#queue.stop();
  }

  #left(mirror: Job): void {
    for (const key of copyKeysOf(mirror)) this.#queue.addAfter(key, LINGER_MS);
  }

  #round(): void {
    if (this.#stopped) return;
    this.#findAll()
      .catch((error: unknown) => this.#options.logger.warn({ error }, "could not look for copies that nobody uses"))
      .catch(() => {});
    this.#cancel = this.#options.clock.after(SWEEP_MS, () => this.#round());
  }

  async #findAll(): Promise<void> {
    for (const kind of ["ConfigMap", "Secret"] as const) {
      if (await this.#find(kind, {})) continue;
      // Rights in single namespaces. Where it has none, it has made no copies.
      for (const namespace of await this.#options.served()) {
        if (this.#stopped) return;
        await this.#find(kind, { namespace });
      }
    }
  }

  /** Whether the agent may look there. */
  async #find(kind: CopiedKind, within: { readonly namespace?: string }): Promise<boolean> {
    let next: string | undefined;
    do {
      const from = next === undefined ? {} : { continue: next };
      const options = { ...within, labelSelector: COPY_LABEL, limit: PAGE, ...from };
      const page = await this.#options.api.list(metadataOf(kind), options).catch((error: unknown) => {
        if (isForbidden(error)) return undefined;
        throw error;
      });
      if (page === undefined) return false;
      for (const { metadata } of page.items) this.#consider(kind, metadata.namespace ?? "", metadata.name ?? "");
      next = page.metadata.continue;
    } while (next !== undefined && next !== "" && !this.#stopped);
    return true;
  }

  #consider(kind: CopiedKind, namespace: string, name: string): void {
    const key: CopyKey = `${kind}/${namespace}/${name}`;
    if (!this.#options.mirrors.use(key)) this.#queue.add(key);
  }

  async #sweep(key: CopyKey): Promise<ProcessResult> {
    const { mirrors, copies } = this.#options;
    if (mirrors.use(key)) return;
    // A mirror that refers to it is about to come, or never will.
    if (copies.isPinned(key)) return { requeueAfterMs: PINNED_MS };
    await this.#options.copies.removing(key, () => this.#remove(key));
  }

  async #remove(key: CopyKey): Promise<void> {
    const { api, maker } = this.#options;
    const [kind, namespace, name] = key.split("/") as [CopiedKind, string, string];
    const at = { namespace, name };
    try {
      const copy: Copy = await api.get(resourceOf(kind), at);
      if (!maker.isOurs(kind, copy) || copy.metadata.deletionTimestamp !== undefined) return;
      await api.delete(resourceOf(kind), at, { preconditions: { uid: copy.metadata.uid ?? "" } });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error) && !isForbidden(error)) throw error;
    }
  }
}
