/** What all objects have, and how the server wraps them. Numbers of fields are those of apimachinery's meta/v1 and runtime. */
import type { KubeList, KubeObject, KubeStatus, WatchEvent } from "../api.ts";
import { ApiError } from "../errors.ts";
import {
  type Fields,
  flag,
  number,
  part,
  parts,
  raw,
  readMessage,
  shownNumber,
  text,
  textMap,
  texts,
  time,
} from "./message.ts";
import { BrokenProtobuf } from "./wire.ts";

export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

const ownerReference: Fields = {
  1: text("kind"),
  3: text("name"),
  4: text("uid"),
  5: text("apiVersion"),
  6: flag("controller"),
  7: flag("blockOwnerDeletion"),
};

/** Without managedFields: they are a good part of an object, and no cache of ours keeps them. */
export const objectMeta: Fields = {
  1: text("name"),
  2: text("generateName"),
  3: text("namespace"),
  5: text("uid"),
  6: text("resourceVersion"),
  7: number("generation"),
  8: time("creationTimestamp"),
  9: time("deletionTimestamp"),
  10: shownNumber("deletionGracePeriodSeconds"),
  11: textMap("labels"),
  12: textMap("annotations"),
  13: parts("ownerReferences", ownerReference),
  14: texts("finalizers"),
};

const listMeta: Fields = { 2: text("resourceVersion"), 3: text("continue"), 4: shownNumber("remainingItemCount") };

const status: Fields = {
  1: part("metadata", listMeta),
  2: text("status"),
  3: text("message"),
  4: text("reason"),
  5: part("details", {
    1: text("name"),
    2: text("group"),
    3: text("kind"),
    4: parts("causes", { 1: text("reason"), 2: text("message"), 3: text("field") }),
    5: number("retryAfterSeconds"),
    6: text("uid"),
  }),
  6: number("code"),
};

/** Every object stands in an envelope that names its type, behind four bytes that say so. */
const MAGIC = Buffer.from("k8s\0");
const envelope: Fields = { 1: part("typeMeta", { 1: text("apiVersion"), 2: text("kind") }), 2: raw("raw") };
const watchEvent: Fields = { 1: text("type"), 2: part("object", { 1: raw("raw") }) };

interface Envelope {
  typeMeta?: { apiVersion?: string; kind?: string };
  raw?: Buffer;
}

const NOTHING = Buffer.alloc(0);

const broken = (what: string, cause?: unknown): ApiError => new ApiError(0, "InvalidResponse", what, { cause });

function read(fields: Fields, bytes: Buffer): Record<string, unknown> {
  try {
    return readMessage(fields, bytes);
  } catch (cause) {
    if (cause instanceof BrokenProtobuf) throw broken("the server's answer is not valid protobuf", cause);
    throw cause;
  }
}

function unwrap(bytes: Buffer): Required<Envelope> {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw broken("the server's answer has no protobuf envelope");
  const { typeMeta = {}, raw = NOTHING } = read(envelope, bytes.subarray(MAGIC.length)) as Envelope;
  return { typeMeta, raw };
}

/** An object whose fields are given, a list of them, or a Status: what it is, its envelope tells. */
export function decodeAnswer<T extends KubeObject>(fields: Fields, bytes: Buffer): T | KubeList<T> | KubeStatus {
  const { typeMeta, raw } = unwrap(bytes);
  if (typeMeta.kind === "Status") return { ...typeMeta, ...read(status, raw) } as unknown as KubeStatus;
  if (!typeMeta.kind?.endsWith("List")) return decoded<T>(typeMeta, fields, raw);
  const { metadata, items } = read({ 1: part("metadata", listMeta), 2: parts("items", fields) }, raw);
  return { ...typeMeta, metadata, items: items ?? [] } as KubeList<T>;
}

/** One event of a watch, as its frame holds it. */
export function decodeEvent<T extends KubeObject>(fields: Fields, frame: Buffer): WatchEvent<T> {
  const { type, object } = read(watchEvent, frame) as { type?: string; object?: { raw?: Buffer } };
  if (type === undefined || object?.raw === undefined) throw broken("a watch event has no type or object");
  return { type, object: decodeAnswer<T>(fields, object.raw) } as WatchEvent<T>;
}

function decoded<T extends KubeObject>(typeMeta: object, fields: Fields, raw: Buffer): T {
  const object = read(fields, raw);
  if (object.metadata === undefined) throw broken("an object has no metadata");
  return { ...typeMeta, ...object } as unknown as T;
}
