import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists, isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { AssignmentRef, ContentsDelivery, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import { type Contents, type CopiedKind, copyName } from "@jobferry/shared/references/contents.ts";
import { optionalIn } from "@jobferry/shared/references/template.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import { Slots } from "@jobferry/shared/runtime/slots.ts";
import { type CopyKey, copyKeysOf, identityOf, type Mirrors } from "../mirrors.ts";
import { type Copy, type CopyMaker, copyChanged, isCopy, type Place, resourceOf } from "./copy.ts";
import { Fetches } from "./fetches.ts";

/** A copy that was not here when it was looked for. */
export interface Lacking extends Place {
  /** Copies that had been made by then. */
  readonly asOf: number;
}

/** `without`: optional ones that this cluster does not take. */
export interface Looked {
  readonly lacking: readonly Lacking[];
  readonly without: readonly Place[];
}

interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface CopiesOptions {
  api: Pick<KubeApi, "get" | "create" | "delete">;
  clock: Clock;
  logger: Logger;
  transport: Pick<AgentTransport, "sendReport">;
  mirrors: Pick<Mirrors, "reflector">;
  maker: CopyMaker;
  accepts: ReadonlySet<CopiedKind>;
  /** What a failed create means; undefined when trying again is the right answer. */
  refusalOf(error: unknown, namespace: string): Refusal | undefined;
  settled(jobs: readonly HubUid[]): void;
  made(key: CopyKey, place: Place, hubNamespace: string, uid: string): void;
}

/** A mirror is seen this long after its copies were found, at the latest; by then it was created, or never will be. */
const PIN_MS = 5 * 60_000;
/** At a time, for all Jobs that come: a copy is read whole, and may have a MiB. */
const LOOKS = 16;
/** A cluster that does not take a copy is not tried again within this time. */
const FAILED_MS = 10_000;

/**
 * The copies of the hub's ConfigMaps and Secrets on this cluster. One that is about to be used is pinned, so that it is not swept
 * before the mirror that refers to it is seen; one that is being swept is waited for.
 */
export class Copies {
  readonly #options: CopiesOptions;
  readonly #fetches: Fetches;
  readonly #looks = new Slots(LOOKS);
  readonly #pins = new Map<CopyKey, Map<HubUid, number>>();
  #tidyAt = 0;
  readonly #removals = new Map<CopyKey, Promise<void>>();
  /** Each copy that was made has a number; those of the last ones, by key. */
  readonly #made = new LruMap<CopyKey, number>(1024);
  #count = 0;
  readonly #failures = new LruMap<CopyKey, { readonly refusal: Refusal; readonly until: number }>(1024);

  constructor(options: CopiesOptions) {
    this.#options = options;
    const { transport, clock, logger, settled } = options;
    this.#fetches = new Fetches({
      ...{ transport, clock, logger, settled },
      store: (place, contents, hubNamespace) => this.#store(place, contents, hubNamespace),
    });
    options.mirrors.reflector.addHandler({
      added: (mirror) => {
        const identity = identityOf(mirror);
        if (identity !== undefined) for (const key of copyKeysOf(mirror)) this.#unpin(key, identity.uid);
      },
      deleted: (mirror) => {
        const identity = identityOf(mirror);
        if (identity !== undefined) this.#fetches.leave(identity.uid);
      },
    });
  }

  /**
   * Those that the delivery lists and this cluster does not have. Asked of the API server: somebody may have deleted one. `pin`: no
   * mirror refers to them yet.
   */
  async lacking(
    delivery: RunDelivery,
    namespace: string,
    pin: boolean,
  ): Promise<Looked | { readonly refusal: Refusal }> {
    const asOf = this.#count;
    const places = (delivery.references ?? []).map((reference): Lacking => ({ ...reference, namespace, asOf }));
    const found = await Promise.all(places.map((place) => this.#looks.run(() => this.#look(delivery, place, pin))));
    const optional = optionalIn(delivery.job.spec.template);
    const without: Lacking[] = [];
    for (const [index, place] of places.entries()) {
      const refusal = found[index];
      if (typeof refusal !== "object") continue;
      if (!optional.has(`${place.kind}/${place.name}`)) return { refusal };
      without.push(place);
    }
    return { lacking: places.filter((_, index) => found[index] === "lacking"), without };
  }

  /** One that was made for another Job since it was looked for is not asked for again: this Job looks again. */
  fetch(delivery: RunDelivery, lacking: readonly Lacking[]): void {
    const isMade = (place: Lacking): boolean => (this.#made.peek(keyOf(place)) ?? 0) > place.asOf;
    for (const place of lacking) if (!isMade(place)) this.#fetches.want(delivery, place, delivery.namespace);
    if (lacking.some(isMade)) this.#options.settled([delivery.uid]);
  }

  /** Some are on their way: there is nothing to look at yet. */
  isAwaited(uid: HubUid): boolean {
    return this.#fetches.isAwaited(uid);
  }

  /** For Jobs that run: somebody took it away. */
  restore(jobs: readonly AssignmentRef[], place: Place, hubNamespace: string): void {
    for (const job of jobs) this.#fetches.want(job, place, hubNamespace);
  }

  take(contents: ContentsDelivery): void {
    this.#fetches.take(contents);
  }

  stop(): void {
    this.#fetches.stop();
  }

  /** A Job is about to use it. */
  isPinned(key: CopyKey): boolean {
    const pins = this.#pins.get(key);
    const now = this.#options.clock.monotonic();
    for (const [uid, until] of pins ?? []) if (until <= now) this.#unpin(key, uid);
    return this.#pins.has(key);
  }

  /** Whoever looks for the copy meanwhile waits for the end of it. */
  async removing(key: CopyKey, remove: () => Promise<void>): Promise<void> {
    const removal = remove().finally(() => this.#removals.delete(key));
    this.#removals.set(
      key,
      removal.catch(() => {}),
    );
    await removal;
  }

  async #look(delivery: RunDelivery, place: Place, pin: boolean): Promise<"here" | "lacking" | Refusal> {
    const { api, clock, accepts } = this.#options;
    if (!accepts.has(place.kind)) return notAccepted(place);
    const key = keyOf(place);
    const failure = this.#failures.get(key);
    if (failure !== undefined && failure.until > clock.monotonic()) return failure.refusal;
    if (pin) this.#pin(key, delivery.uid);
    await this.#removals.get(key);
    const at = { namespace: place.namespace, name: copyName(place.name, place.hash) };
    let copy: Copy;
    try {
      copy = await api.get(resourceOf(place.kind), at);
    } catch (error) {
      if (isNotFound(error)) return "lacking";
      const refusal = this.#refusalOf(error, place);
      if (refusal === undefined) throw error;
      return refusal;
    }
    if (this.#options.maker.isGenuine(copy, place)) return "here";
    const name = `${place.kind} ${at.namespace}/${at.name}`;
    if (!isCopy(copy)) return { reason: "NameTaken", message: `${name} on this cluster is not Jobferry's: delete it` };
    await api.delete(resourceOf(place.kind), at, { preconditions: { uid: copy.metadata.uid ?? "" } });
    const message = `${name}, a copy of the hub's, was changed on this cluster; it is made anew`;
    await this.#options.transport.sendReport(copyChanged(delivery, message));
    return "lacking";
  }

  async #store(place: Place, contents: Contents, hubNamespace: string): Promise<void> {
    const { api, clock, maker } = this.#options;
    const copy = maker.make(place, contents, `${hubNamespace}/${place.name}`);
    try {
      const made = await api.create(resourceOf(place.kind), place.namespace, copy);
      this.#made.set(keyOf(place), ++this.#count);
      this.#options.made(keyOf(place), place, hubNamespace, made.metadata.uid ?? "");
    } catch (error) {
      // Whether it is what it should be is looked at before anything uses it.
      if (isAlreadyExists(error)) return;
      const refusal = this.#refusalOf(error, place);
      if (refusal === undefined) throw error;
      this.#failures.set(keyOf(place), { refusal, until: clock.monotonic() + FAILED_MS });
    }
  }

  #refusalOf(error: unknown, place: Place): Refusal | undefined {
    const right = mayNotCopy(error, place);
    if (right !== undefined) return right;
    const refusal = this.#options.refusalOf(error, place.namespace);
    if (refusal === undefined || refusal.reason === "NamespaceMissing") return refusal;
    // What the API server says need not name it: of one that is too large it only says so.
    const { kind, namespace, name } = place;
    return { ...refusal, message: `${kind} ${namespace}/${name} cannot be copied: ${refusal.message}` };
  }

  #pin(key: CopyKey, uid: HubUid): void {
    const now = this.#options.clock.monotonic();
    // Those of Jobs that were refused are not asked for any more.
    if (now >= this.#tidyAt) {
      for (const one of [...this.#pins.keys()]) this.isPinned(one);
      this.#tidyAt = now + PIN_MS;
    }
    const pins = this.#pins.get(key) ?? new Map<HubUid, number>();
    this.#pins.set(key, pins.set(uid, now + PIN_MS));
  }

  #unpin(key: CopyKey, uid: HubUid): void {
    const pins = this.#pins.get(key);
    pins?.delete(uid);
    if (pins?.size === 0) this.#pins.delete(key);
  }
}

const keyOf = ({ kind, namespace, name, hash }: Place): CopyKey => `${kind}/${namespace}/${copyName(name, hash)}`;

function notAccepted({ kind, namespace, name }: Place): Refusal {
  const kinds = kind === "Secret" ? "configmaps,secrets" : "configmaps";
  const field = kind === "Secret" ? "secrets" : "configMaps";
  return {
    reason: "ReferenceNotAccepted",
    message: `this cluster takes no ${kind}s of the hub: start its agent with --accept-references=${kinds}, or create ${kind} ${namespace}/${name} there and set references.${field} to Expect on the Job's queue`,
  };
}

/** Our own rights, not the Job's. */
function mayNotCopy(error: unknown, { kind, namespace, name }: Place): Refusal | undefined {
  if (!isForbidden(error) || !/cannot \w+ resource/.test((error as Error).message)) return undefined;
  const fix =
    kind === "Secret"
      ? "`kubectl apply -f deploy/worker/secrets.yaml`"
      : `\`kubectl apply -k deploy/worker\`, or \`-k deploy/worker-roles/namespace -n ${namespace}\`,`;
  const message = `the agent may not copy ${kind} ${namespace}/${name}: ${fix} on this cluster lets it`;
  return { reason: "ReferenceNotAccepted", message };
}
