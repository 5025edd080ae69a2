import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isConflict, isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { AssignmentRef, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { COPY_LABEL, COPY_MAC, COPY_OF } from "@jobferry/shared/protocol/marks.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import { type CopiedKind, copyName } from "@jobferry/shared/references/contents.ts";
import { referencesOf } from "@jobferry/shared/references/template.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { awaitsCopies, type CopyKey, copyKeysOf, isLeaving, isOver, type Mirrors } from "../mirrors.ts";
import { type Copy, type CopyMaker, copyChanged, isCopy, metadataOf, type Place, placeOf, resourceOf } from "./copy.ts";

export interface CopyGuardOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  transport: Pick<AgentTransport, "sendReport">;
  mirrors: Pick<Mirrors, "reflector" | "of" | "usersOf">;
  maker: Pick<CopyMaker, "isGenuine" | "renewed">;
  /** Asks the manager for the contents once more, and makes the copy of them. */
  restore(jobs: readonly AssignmentRef[], place: Place, hubNamespace: string): void;
}

/** A Job whose pods use a copy. */
interface User extends AssignmentRef {
  /** Of its mirror. */
  readonly name: string;
}

/** A copy as it should be. */
interface Known {
  readonly place: Place;
  readonly hubNamespace: string;
  /** Of the object that was found to be genuine: an immutable object with this UID still is. */
  uid: string;
  /** How often it was asked for since somebody changed it. */
  tries: number;
}

/** By then we know whether a copy that appears is of our own making, and one that is asked for has come. */
const SETTLE_MS = 1_000;
const RESTORED_MS = 12_000;
const MAX_TRIES = 3;
/** Where copies may be watched in single namespaces only: each takes a connection for each kind. */
const MAX_NAMESPACES = 64;
/** Copies come without their contents. */
const PAGE = 500;

/**
 * Sees when somebody on this cluster deletes or replaces a copy that Jobs use, tells those Jobs, and makes it anew. Watches metadata
 * alone, so that no contents are held here: a copy is immutable, and one that was replaced has another UID.
 */
export class CopyGuard {
  readonly #options: CopyGuardOptions;
  readonly #queue: WorkQueue;
  /** Of copies that mirrors refer to. */
  readonly #known = new Map<CopyKey, Known>();
  /** What is watched: a kind everywhere, or in one namespace. */
  readonly #scopes = new Map<string, Reflector<KubeObject> | undefined>();
  readonly #watches: Promise<void>[] = [];
  #signal: AbortSignal | undefined;

  constructor(options: CopyGuardOptions) {
    this.#options = options;
    const { clock, logger, mirrors } = options;
    this.#queue = new WorkQueue({
      ...{ name: "copies-guard", clock, logger, concurrency: 2 },
      backoff: { baseMs: 1_000, maxMs: 60_000 },
      process: (key) => this.#check(key as CopyKey),
    });
    mirrors.reflector.addHandler({
      added: (mirror) => {
        for (const key of copyKeysOf(mirror)) this.#watch(key);
      },
      deleted: (mirror) => {
        for (const key of copyKeysOf(mirror)) if (mirrors.usersOf(key).length === 0) this.#known.delete(key);
      },
    });
  }

  /** Serves until `signal` aborts. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
    this.#queue.start();
    for (const mirror of this.#options.mirrors.reflector.list()) for (const key of copyKeysOf(mirror)) this.#watch(key);
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
    await Promise.all(this.#watches);
  }

  /** We have just made it: it needs no look. */
  made(key: CopyKey, place: Place, hubNamespace: string, uid: string): void {
    this.#known.set(key, { place, hubNamespace, uid, tries: 0 });
  }

  /**
   * The Job runs here, perhaps since before this process: what the delivery lists tells which copies its mirror should have. One that
   * the hub has other contents for by now cannot be told from the list; that it is gone can still be said.
   */
  learn({ uid, references = [], job, namespace: hubNamespace }: RunDelivery): void {
    const own = new Set(referencesOf(job.spec.template).map(({ kind, name }) => `${kind}/${name}`));
    for (const mirror of this.#options.mirrors.of(uid))
      for (const key of copyKeysOf(mirror)) {
        const [kind, namespace, name] = split(key);
        if (this.#known.has(key) || own.has(`${kind}/${name}`)) continue;
        const listed = references.find((one) => one.kind === kind && copyName(one.name, one.hash) === name);
        const place = { kind, namespace, name: listed?.name ?? name.slice(0, -11), hash: listed?.hash ?? "" };
        this.#known.set(key, { place, hubNamespace, uid: "", tries: listed === undefined ? MAX_TRIES : 0 });
        this.#queue.addAfter(key, SETTLE_MS);
      }
  }

  #watch(key: CopyKey): void {
    const [kind, namespace] = split(key);
    if (this.#signal === undefined || this.#scopes.has(kind) || this.#scopes.has(`${kind}/${namespace}`)) return;
    // Until it is known whether all may be watched, this namespace is.
    this.#scopes.set(`${kind}/${namespace}`, undefined);
    this.#watches.push(
      this.#open(kind, namespace, this.#signal).catch((error: unknown) => {
        this.#scopes.delete(`${kind}/${namespace}`);
        this.#options.logger.debug({ error, kind }, "copies are not watched yet");
      }),
    );
  }

  async #open(kind: CopiedKind, namespace: string, signal: AbortSignal): Promise<void> {
    const resource = metadataOf(kind);
    if (await this.#mayList(resource, undefined, signal)) {
      if (!this.#scopes.has(kind)) await this.#follow(kind, undefined, signal);
      return;
    }
    const watched = [...this.#scopes.values()].filter((reflector) => reflector !== undefined);
    if (watched.length < 2 * MAX_NAMESPACES && (await this.#mayList(resource, namespace, signal)))
      await this.#follow(kind, namespace, signal);
  }

  async #mayList(resource: Resource, namespace: string | undefined, signal: AbortSignal): Promise<boolean> {
    try {
      const within = namespace === undefined ? {} : { namespace };
      await this.#options.api.list(resource, { ...within, labelSelector: COPY_LABEL, limit: 1, signal });
      return true;
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  }

  #follow(kind: CopiedKind, namespace: string | undefined, signal: AbortSignal): Promise<void> {
    const { api, clock, random, logger } = this.#options;
    const reflector = new Reflector<KubeObject>({
      ...{ api, clock, random, logger, resource: metadataOf(kind), labelSelector: COPY_LABEL, pageSize: PAGE },
      ...(namespace === undefined ? {} : { namespace }),
      transform: ({ metadata: { name, namespace, uid, resourceVersion } }) =>
        ({ metadata: { name, namespace, uid, resourceVersion } }) as KubeObject,
    });
    this.#scopes.set(namespace === undefined ? kind : `${kind}/${namespace}`, reflector);
    const seen = ({ metadata }: KubeObject): void => {
      const key: CopyKey = `${kind}/${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
      if (this.#options.mirrors.usersOf(key).length === 0) this.#known.delete(key);
      else this.#queue.addAfter(key, SETTLE_MS);
    };
    reflector.addHandler({ added: seen, updated: (_, copy) => seen(copy), deleted: seen });
    // What was deleted before the watch began shows in no event.
    void reflector.whenSynced().then(() => this.#checkAll(kind, namespace));
    return reflector.start(signal);
  }

  #checkAll(kind: CopiedKind, namespace: string | undefined): void {
    for (const mirror of this.#options.mirrors.reflector.list())
      for (const key of copyKeysOf(mirror)) {
        const [its, within] = split(key);
        if (its === kind && (namespace === undefined || namespace === within)) this.#queue.addAfter(key, SETTLE_MS);
      }
  }

  /** Those whose pods need the copy. One that waits for its copies looks after them itself. */
  #usersOf(key: CopyKey): User[] {
    return this.#options.mirrors
      .usersOf(key)
      .filter(({ mirror }) => !isFinished(mirror) && !isLeaving(mirror) && !isOver(mirror) && !awaitsCopies(mirror))
      .map(({ mirror, identity: { uid, epoch } }) => ({ uid, epoch, name: mirror.metadata.name ?? "" }));
  }

  async #check(key: CopyKey): Promise<ProcessResult> {
    const users = this.#usersOf(key);
    if (users.length === 0 || this.#isAsKnown(key)) return;
    const copy = await this.#read(key);
    const noted = this.#known.get(key);
    const known = noted === undefined || noted.place.hash === "" ? (knownFrom(key, copy) ?? noted) : noted;
    // Nobody has seen it as it was, and no delivery lists it yet; or it never was one.
    if (known === undefined) return;
    const { place, hubNamespace } = known;
    if (copy !== undefined && this.#options.maker.isGenuine(copy, place)) {
      this.#known.set(key, { ...known, uid: copy.metadata.uid ?? "", tries: 0 });
      await this.#renew(key, copy, place);
      return;
    }
    const tries = known.tries + 1;
    this.#known.set(key, { ...known, tries });
    const verdict = verdictOf(copy, known.uid, tries);
    if (verdict !== "goes on" || tries === 1) await this.#tell(users, sentenceOf(key, known, copy, verdict));
    if (verdict !== "goes on") return;
    if (copy !== undefined) await this.#remove(key, copy);
    this.#options.restore(users, place, hubNamespace);
    return { requeueAfterMs: RESTORED_MS };
  }

  /** It is the very object that was found genuine before. */
  #isAsKnown(key: CopyKey): boolean {
    const [kind, namespace, name] = split(key);
    const reflector = this.#scopes.get(kind) ?? this.#scopes.get(`${kind}/${namespace}`);
    const seen = reflector?.get(namespace, name)?.metadata.uid;
    return seen !== undefined && seen === this.#known.get(key)?.uid;
  }

  async #read(key: CopyKey): Promise<Copy | undefined> {
    const [kind, namespace, name] = split(key);
    try {
      return await this.#options.api.get(resourceOf(kind), { namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #renew(key: CopyKey, copy: Copy, place: Place): Promise<void> {
    const [kind, namespace, name] = split(key);
    const mac = this.#options.maker.renewed(copy, place);
    if (mac === undefined) return;
    const body = { metadata: { uid: copy.metadata.uid, annotations: { [COPY_MAC]: mac } } };
    await this.#options.api.patch(metadataOf(kind), { namespace, name }, { type: "merge", body });
  }

  async #remove(key: CopyKey, { metadata: { uid = "" } }: Copy): Promise<void> {
    const [kind, namespace, name] = split(key);
    try {
      await this.#options.api.delete(resourceOf(kind), { namespace, name }, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #tell(users: readonly User[], message: string): Promise<void> {
    for (const user of users) await this.#options.transport.sendReport(copyChanged(user, message));
  }
}

const split = (key: CopyKey) => key.split("/") as [CopiedKind, string, string];

/** By its own annotations: whether they are true is for the MAC to say, and for the manager, who is asked for it. */
function knownFrom(key: CopyKey, copy: Copy | undefined): Known | undefined {
  const [kind, , name] = split(key);
  if (copy === undefined || !isCopy(copy)) return undefined;
  const place = placeOf(kind, copy);
  const [hubNamespace = ""] = copy.metadata.annotations?.[COPY_OF]?.split("/") ?? [];
  return copyName(place.name, place.hash) === name ? { place, hubNamespace, uid: "", tries: 0 } : undefined;
}

type Verdict = "goes on" | "not ours" | "unlabelled" | "given up";

function verdictOf(copy: Copy | undefined, genuine: string, tries: number): Verdict {
  if (copy !== undefined && !isCopy(copy)) return copy.metadata.uid === genuine ? "unlabelled" : "not ours";
  return tries > MAX_TRIES ? "given up" : "goes on";
}

function sentenceOf(key: CopyKey, { place, hubNamespace }: Known, copy: Copy | undefined, verdict: Verdict): string {
  const [kind, namespace, name] = split(key);
  const it = `${kind} ${namespace}/${name}, a copy of the hub's ${hubNamespace}/${place.name},`;
  switch (verdict) {
    case "goes on":
      return `${it} was ${copy === undefined ? "deleted" : "changed"} on this cluster; it is made anew`;
    case "unlabelled":
      return `${it} has lost its label ${COPY_LABEL} on this cluster: the Job goes on, and nobody removes the copy afterwards but you`;
    case "not ours":
      return `${it} was replaced on this cluster by one that is not Jobferry's: delete that, and create the Job again`;
    case "given up":
      return `${it} was ${copy === undefined ? "deleted" : "changed"} on this cluster and could not be made anew, perhaps because the hub has other contents by now: new pods of the Job wait for it; create the Job again`;
  }
}
