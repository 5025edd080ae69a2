import type { Stored } from "../store/frozen.ts";
import { keyOf, type Table } from "../store/table.ts";
import { type Core, namespaceOf } from "./core.ts";
import { badRequest, expired, type FieldFault, invalid, revisionTooLarge } from "./errors.ts";
import { parseSelection, type SelectorTexts } from "./selection.ts";
import type { ResourceType } from "./types.ts";

export interface ListRequest extends SelectorTexts {
  readonly namespace?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  /** Only for watches; given here to be refused. */
  readonly sendInitialEvents?: boolean | undefined;
}

export interface ListResult {
  readonly resourceVersion: string;
  readonly items: Stored[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Where a list that was cut by `limit` goes on. Revision -1: from whatever is there now (after a 410). */
interface Continuation {
  revision: number;
  start: string;
}

const SNAPSHOTS_KEPT = 8;

/** Lists, and the snapshots that make the pages of one list agree with each other while writes go on. */
export class Lister {
  readonly #core: Core;
  readonly #snapshots = new Map<string, Stored[]>();

  constructor(core: Core) {
    this.#core = core;
  }

  list(type: ResourceType, request: ListRequest): ListResult {
    checkMatch(request);
    const selection = parseSelection(type, request);
    const table = this.#core.store.table(type);
    const namespace = type.namespaced ? request.namespace : undefined;
    const limit = Math.max(0, request.limit ?? 0);
    const page = this.#page(type, table, namespace, request);
    if (selection.name !== undefined && namespace !== undefined && page.start === "" && page.current) {
      const only = table.get(namespaceOf(type, namespace), selection.name);
      const items = only !== undefined && (selection.matches?.(only) ?? true) ? [only] : [];
      return { resourceVersion: String(page.revision), items };
    }
    const all = this.#state(type, table, namespace, page, limit > 0);
    return cut(all, page, limit, selection.matches);
  }

  /** Pages of lists begun before now can no longer be continued consistently. */
  compact(): void {
    this.#snapshots.clear();
  }

  #page(
    type: ResourceType,
    table: Table,
    namespace: string | undefined,
    request: ListRequest,
  ): { revision: number; start: string; current: boolean } {
    const now = this.#core.store.revision;
    if (request.continue !== undefined && request.continue !== "") {
      const { revision, start } = readToken(request.continue);
      if (revision < 0) return { revision: now, start, current: true };
      if (revision < table.compactedAt && !this.#snapshots.has(snapshotKey(type, namespace, revision)))
        throw continueExpired(start);
      return { revision, start, current: revision === now };
    }
    const wanted = parseRevision(request.resourceVersion);
    if (wanted > now) throw revisionTooLarge(wanted, now);
    const exact = request.resourceVersionMatch === "Exact" && wanted > 0;
    if (!exact) return { revision: now, start: "", current: true };
    if (wanted < table.compactedAt) throw expired("The resourceVersion for the provided list is too old.");
    return { revision: wanted, start: "", current: wanted === now };
  }

  #state(
    type: ResourceType,
    table: Table,
    namespace: string | undefined,
    page: { revision: number; current: boolean },
    paged: boolean,
  ): Stored[] {
    const key = snapshotKey(type, namespace, page.revision);
    const kept = this.#snapshots.get(key);
    if (kept !== undefined) return kept;
    const state = page.current ? table.sorted(namespace) : table.sortedAt(page.revision, namespace);
    if (paged) {
      this.#snapshots.set(key, state);
      const oldest = this.#snapshots.keys().next().value;
      if (this.#snapshots.size > SNAPSHOTS_KEPT && oldest !== undefined) this.#snapshots.delete(oldest);
    }
    return state;
  }
}

const snapshotKey = (type: ResourceType, namespace: string | undefined, revision: number): string =>
  `${type.group}/${type.plural}/${namespace ?? "*"}@${revision}`;

function cut(
  all: Stored[],
  page: { revision: number; start: string },
  limit: number,
  matches: ((object: Stored) => boolean) | undefined,
): ListResult {
  const resourceVersion = String(page.revision);
  const from = page.start === "" ? 0 : firstAtOrAfter(all, page.start);
  const items: Stored[] = [];
  for (let i = from; i < all.length; i++) {
    const object = all[i];
    if (object === undefined || !(matches?.(object) ?? true)) continue;
    if (limit > 0 && items.length === limit)
      return {
        resourceVersion,
        items,
        continue: writeToken({ revision: page.revision, start: keyOf(object) }),
        ...(matches === undefined ? { remainingItemCount: all.length - i } : {}),
      };
    items.push(object);
  }
  return { resourceVersion, items };
}

function firstAtOrAfter(all: Stored[], start: string): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const object = all[middle];
    if (object !== undefined && keyOf(object) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

const writeToken = (token: Continuation): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.start })).toString("base64url");

function readToken(text: string): Continuation {
  const json = Buffer.from(text, "base64url").toString("latin1");
  try {
    const { v, rv, start } = JSON.parse(json) as Record<string, unknown>;
    if (v === "meta.k8s.io/v1" && typeof rv === "number" && typeof start === "string") return { revision: rv, start };
  } catch {
    // Said below, together with tokens of another shape.
  }
  const at = json.trimStart().charAt(0);
  throw badRequest(
    `invalid continue token: continue key is not valid: invalid character '${at}' looking for beginning of value`,
  );
}

function continueExpired(start: string): Error {
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  if (error.status !== undefined) error.status.metadata = { continue: writeToken({ revision: -1, start }) };
  return error;
}

function parseRevision(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d+$/.test(text)) return Number(text);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

function checkMatch(request: ListRequest): void {
  const { resourceVersionMatch: match = "", resourceVersion = "", continue: token = "" } = request;
  const faults: FieldFault[] = [];
  const forbid = (field: string, detail: string): void => {
    faults.push({ field, kind: "Forbidden", detail });
  };
  if (match !== "") {
    if (resourceVersion === "")
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (token !== "") forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan")
      faults.push({
        field: "resourceVersionMatch",
        kind: "NotSupported",
        badValue: match,
        detail: 'supported values: "Exact", "NotOlderThan", ""',
      });
    if (match === "Exact" && resourceVersion === "0")
      forbid("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (request.sendInitialEvents !== undefined) forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  if (faults.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", faults);
}
