/** Watches and long lists, written piece by piece. */
import type { WatchEvent } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { ListResult } from "../api/list.ts";
import type { ResourceType } from "../api/types.ts";
import type { Stored } from "../store/frozen.ts";
import type { Exchange } from "./exchange.ts";
import { partialMetadata, type RowObject, tableOf } from "./table.ts";

const LIST_CHUNK = 500;

export const includeObject = (exchange: Exchange): RowObject => {
  const value = exchange.query.get("includeObject");
  return value === "None" || value === "Object" ? value : "Metadata";
};

/** In lists of built-in types the items do not repeat their kind. */
export function asListItem(type: ResourceType, object: Stored): object {
  if (type.schemaKind === undefined) return object;
  const { apiVersion: _a, kind: _k, ...rest } = object;
  return rest;
}

/** A list of 100,000 objects would not fit in one string. */
export async function writeList(
  exchange: Exchange,
  type: ResourceType,
  result: ListResult,
  nowMs: number,
): Promise<void> {
  const { items, ...metadata } = result;
  const { view, yaml } = exchange.accepted;
  if (view === "table") {
    const options = { nowMs, include: includeObject(exchange), withDefinitions: true };
    return exchange.json(200, tableOf(type, items, metadata, options));
  }
  const head =
    view === "metadata"
      ? { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata }
      : { kind: type.listKind, apiVersion: type.apiVersion, metadata };
  const shown = items.map((item) => (view === "metadata" ? partialMetadata(item) : asListItem(type, item)));
  if (yaml || shown.length <= LIST_CHUNK) return exchange.json(200, { ...head, items: shown });
  exchange.head(200, "application/json");
  await exchange.write(`${JSON.stringify(head).slice(0, -1)},"items":[`);
  for (let from = 0; from < shown.length; from += LIST_CHUNK) {
    const chunk = shown.slice(from, from + LIST_CHUNK).map((item) => JSON.stringify(item));
    await exchange.write((from === 0 ? "" : ",") + chunk.join(","));
  }
  exchange.response.end("]}\n");
}

/** Hands events on until the watch ends or the client goes. */
export async function writeWatch(
  exchange: Exchange,
  type: ResourceType,
  batches: AsyncIterable<WatchEvent<Stored>[]>,
  now: () => number,
): Promise<void> {
  const encode = encoder(exchange, type, now);
  try {
    for await (const batch of batches) {
      if (!exchange.response.headersSent) exchange.head(200, "application/json");
      await exchange.write(batch.map(encode).join(""));
    }
  } catch (error) {
    if (exchange.signal.aborted) return;
    if (!(error instanceof ApiError) || error.code !== 410) throw error;
    // An expired revision is told inside the stream, as a real server does.
    exchange.head(200, "application/json");
    await exchange.write(`${JSON.stringify({ type: "ERROR", object: error.status })}\n`);
  }
  exchange.response.end();
}

function encoder(exchange: Exchange, type: ResourceType, now: () => number): (event: WatchEvent<Stored>) => string {
  const { view } = exchange.accepted;
  if (view === "object") return (event) => `{"type":"${event.type}","object":${JSON.stringify(event.object)}}\n`;
  if (view === "metadata")
    return (event) => `${JSON.stringify({ type: event.type, object: partialMetadata(event.object) })}\n`;
  let withDefinitions = true;
  const include = includeObject(exchange);
  return (event) => {
    const rows = event.type === "BOOKMARK" || event.type === "ERROR" ? [] : [event.object];
    const metadata = event.type === "ERROR" ? {} : { ...event.object.metadata };
    const resourceVersion = "resourceVersion" in metadata ? metadata.resourceVersion : "";
    const table = tableOf(type, rows, { resourceVersion }, { nowMs: now(), include, withDefinitions });
    withDefinitions = false;
    return `${JSON.stringify({ type: event.type, object: table })}\n`;
  };
}
