import type { WatchEvent } from "@jobferry/shared/kube/api.ts";
import type { Stored } from "../store/frozen.ts";
import { bookmark, type Watcher } from "../store/watcher.ts";
import type { Core } from "./core.ts";
import { internalError, invalid, tooOld } from "./errors.ts";
import { parseSelection, type SelectorTexts } from "./selection.ts";
import type { ResourceType } from "./types.ts";

export interface WatchRequest extends SelectorTexts {
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
}

const MIN_TIMEOUT_SECONDS = 1800;
const BOOKMARK_BEFORE_END_SECONDS = 2;

/** Opens a watch; an expired revision throws 410. The caller hands the watcher on and closes it. */
export function openWatch(core: Core, type: ResourceType, request: WatchRequest): Watcher {
  checkInitialEvents(request);
  const selection = parseSelection(type, request);
  const revision = revisionOf(request.resourceVersion);
  const table = core.store.table(type);
  const namespace = type.namespaced ? request.namespace : undefined;
  const wantsInitial = request.sendInitialEvents ?? revision === 0;
  if (!wantsInitial && revision > 0 && revision < table.compactedAt) throw tooOld(revision, table.compactedAt + 1);
  const watcher = table.watch({
    revision: wantsInitial || revision === 0 ? core.store.revision : revision,
    namespace,
    matches: selection.matches,
    wantsBookmarks: request.allowWatchBookmarks ?? false,
    ...(wantsInitial ? { initial: initialEvents(core, type, namespace, selection.matches, request) } : {}),
  });
  endLater(core, type, watcher, request.timeoutSeconds);
  return watcher;
}

function initialEvents(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  matches: ((object: Stored) => boolean) | undefined,
  request: WatchRequest,
): WatchEvent<Stored>[] {
  const events: WatchEvent<Stored>[] = [];
  for (const object of core.store.table(type).sorted(namespace))
    if (matches?.(object) ?? true) events.push({ type: "ADDED", object });
  if (request.sendInitialEvents === true && request.allowWatchBookmarks === true)
    events.push(bookmark(type, core.store.revision, true));
  return events;
}

/** A watch without a time limit gets one between half an hour and an hour, as on a real server. */
function endLater(core: Core, type: ResourceType, watcher: Watcher, timeoutSeconds: number | undefined): void {
  const seconds =
    timeoutSeconds !== undefined && timeoutSeconds > 0
      ? timeoutSeconds
      : MIN_TIMEOUT_SECONDS + core.random.below(MIN_TIMEOUT_SECONDS);
  watcher.onClosed(core.clock.after(seconds * 1000, () => watcher.close()));
  // So that the client can go on from here instead of from its last event.
  if (watcher.wantsBookmarks && seconds > BOOKMARK_BEFORE_END_SECONDS) {
    const tell = (): void => watcher.push(bookmark(type, core.store.revision));
    watcher.onClosed(core.clock.after((seconds - BOOKMARK_BEFORE_END_SECONDS) * 1000, tell));
  }
}

function revisionOf(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d+$/.test(text)) return Number(text);
  throw internalError(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

function checkInitialEvents(request: WatchRequest): void {
  const { sendInitialEvents, resourceVersionMatch } = request;
  const reject = (detail: string): never => {
    throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", [
      { field: "resourceVersionMatch", kind: "Forbidden", detail },
    ]);
  };
  if (sendInitialEvents !== undefined && resourceVersionMatch !== "NotOlderThan")
    reject("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  if (sendInitialEvents === undefined && resourceVersionMatch !== undefined && resourceVersionMatch !== "")
    reject("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
}
