import type { AssignmentRef, ContentsDelivery } from "@jobferry/shared/protocol/delivery.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import { type Contents, joinPieces, parseContents } from "@jobferry/shared/references/contents.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Place } from "./copy.ts";

export interface FetchesOptions {
  transport: Pick<AgentTransport, "sendReport">;
  clock: Clock;
  logger: Logger;
  /** Contents have come. What came of them, and of those that did not come in time, is for the Jobs to find out. */
  store(place: Place, contents: Contents, hubNamespace: string): Promise<void>;
  /** These Jobs wait for nothing any more, and are looked at again. */
  settled(jobs: readonly HubUid[]): void;
}

/** Contents under way at a time; each may have several MiB. */
const AT_ONCE = 16;
/** Messages may be lost: those that still need it ask again. */
const PATIENCE_MS = 10_000;

interface Fetch {
  readonly key: string;
  readonly place: Place;
  readonly hubNamespace: string;
  readonly jobs: Map<HubUid, Epoch>;
  pieces: (string | undefined)[];
  isStoring: boolean;
  cancel(): void;
}

/** Asks the manager for contents that this cluster lacks: each once, for however many Jobs, and a few at a time. */
export class Fetches {
  readonly #options: FetchesOptions;
  /** Those whose turn has not come: a name each, and no contents. */
  readonly #line = new Map<string, Fetch>();
  readonly #asked = new Map<string, Fetch>();
  /** How many of them each Job waits for. */
  readonly #awaited = new Map<HubUid, number>();

  constructor(options: FetchesOptions) {
    this.#options = options;
  }

  /** Returns at once; `settled` is called when it is worth looking again. */
  want({ uid, epoch }: AssignmentRef, place: Place, hubNamespace: string): void {
    const key = keyOf(place);
    const known = this.#asked.get(key) ?? this.#line.get(key);
    if (known?.jobs.has(uid) !== true) this.#awaited.set(uid, (this.#awaited.get(uid) ?? 0) + 1);
    if (known !== undefined) {
      known.jobs.set(uid, epoch);
      return;
    }
    const jobs = new Map([[uid, epoch]]);
    const fetch: Fetch = {
      ...{ key, place, hubNamespace, jobs, pieces: [], isStoring: false },
      cancel: () => {},
    };
    this.#line.set(key, fetch);
    this.#askNext();
  }

  /** Something that the Job needs is still under way; each of them comes to an end, if only by being late. */
  isAwaited(uid: HubUid): boolean {
    return this.#awaited.has(uid);
  }

  /** A piece that nobody waits for, or waits for no longer, is dropped. */
  take({ uid, reference, piece, pieces, text }: ContentsDelivery): void {
    for (const fetch of this.#asked.values()) {
      const { place, jobs } = fetch;
      const isIts = place.kind === reference.kind && place.name === reference.name && place.hash === reference.hash;
      if (!isIts || fetch.isStoring || !jobs.has(uid)) continue;
      this.#wait(fetch);
      if (fetch.pieces.length !== pieces) fetch.pieces = Array.from({ length: pieces }, () => undefined);
      fetch.pieces[piece - 1] = text;
      if (fetch.pieces.every((each) => each !== undefined)) this.#store(fetch, fetch.pieces);
      return;
    }
  }

  /** The Job is gone: what was asked for in its name is asked for in that of the next. */
  leave(uid: HubUid): void {
    this.#awaited.delete(uid);
    for (const fetch of [...this.#line.values(), ...this.#asked.values()]) {
      const [first] = fetch.jobs.keys();
      if (!fetch.jobs.delete(uid) || fetch.isStoring) continue;
      if (fetch.jobs.size === 0) this.#drop(fetch);
      else if (first === uid && this.#asked.has(fetch.key)) this.#ask(fetch);
    }
  }

  stop(): void {
    for (const fetch of this.#asked.values()) fetch.cancel();
    this.#asked.clear();
    this.#line.clear();
    this.#awaited.clear();
  }

  #askNext(): void {
    for (const fetch of this.#line.values()) {
      if (this.#asked.size >= AT_ONCE) return;
      this.#line.delete(fetch.key);
      this.#asked.set(fetch.key, fetch);
      this.#ask(fetch);
    }
  }

  #ask(fetch: Fetch): void {
    const { transport, logger } = this.#options;
    const [first] = fetch.jobs;
    if (first === undefined) return;
    const [uid, epoch] = first;
    const { kind, name, hash } = fetch.place;
    this.#wait(fetch);
    transport.sendReport({ kind: "ask", uid, epoch, references: [{ kind, name, hash }] }).catch((error: unknown) => {
      logger.debug({ error, uid }, "could not ask for contents; they are asked for again");
    });
  }

  /** From the last sign of life on: a large one may take its time. */
  #wait(fetch: Fetch): void {
    fetch.cancel();
    fetch.cancel = this.#options.clock.after(PATIENCE_MS, () => this.#end(fetch));
  }

  #store(fetch: Fetch, pieces: readonly (string | undefined)[]): void {
    const { store, logger } = this.#options;
    const { place, hubNamespace } = fetch;
    fetch.isStoring = true;
    fetch.cancel();
    // The error says what is wrong with the object, never what is in it.
    const stored = async () => store(place, parseContents(joinPieces(pieces.map((each) => each ?? ""))), hubNamespace);
    stored()
      .catch((error: unknown) =>
        logger.warn({ error: String(error), kind: place.kind, name: place.name }, "copy not made"),
      )
      .finally(() => this.#end(fetch))
      .catch(() => {});
  }

  #end(fetch: Fetch): void {
    if (this.#asked.get(fetch.key) !== fetch) return;
    this.#drop(fetch);
    this.#options.settled([...fetch.jobs.keys()].filter((uid) => this.#isLast(uid)));
  }

  /** One thing less that the Job waits for: whether it was the last. Looking at all it refers to each time would be quadratic. */
  #isLast(uid: HubUid): boolean {
    const left = (this.#awaited.get(uid) ?? 1) - 1;
    if (left > 0) this.#awaited.set(uid, left);
    else this.#awaited.delete(uid);
    return left <= 0;
  }

  #drop(fetch: Fetch): void {
    fetch.cancel();
    this.#line.delete(fetch.key);
    this.#asked.delete(fetch.key);
    this.#askNext();
  }
}

const keyOf = ({ kind, namespace, name, hash }: Place): string => `${kind}/${namespace}/${name}/${hash}`;
