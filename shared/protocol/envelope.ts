/**
 * One line of header, then the body:
 *
 *   jobferry/1 delivery east gzip <signature>
 *   <body>
 *
 * The direction and the cluster say who speaks to whom: `delivery` is manager to cluster, `report` cluster to manager.
 * The signature covers everything else of the envelope as it travels, so that nothing is unpacked or parsed before its
 * sender is known, and a signed message means nothing in another place, direction or version.
 */
import { type KeyObject, sign, verify } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { ProtocolError } from "./errors.ts";
import { GZIP_ABOVE_BYTES, MAX_ENVELOPE_CHARS, MAX_PAYLOAD_BYTES } from "./limits.ts";
import type { ClusterName } from "./names.ts";

const MAGIC = "jobferry/1";
const HEADER = /^jobferry\/1 (delivery|report) ([a-z0-9-]{1,63}) (plain|gzip) ([A-Za-z0-9_-]{86})$/;
/** gzip's fastest: a Job compresses well at any level, and the hand-over is on the path of every Job. */
const GZIP_LEVEL = 1;

export interface Route {
  readonly direction: "delivery" | "report";
  readonly cluster: ClusterName;
}

export function seal(payload: string, route: Route, key: KeyObject): string {
  if (!payload.isWellFormed()) throw new ProtocolError("protocol/encoding", "unpaired surrogate");
  const size = Buffer.byteLength(payload);
  if (size > MAX_PAYLOAD_BYTES) throw new ProtocolError("protocol/too-large", `${size} bytes`);
  const packed = size > GZIP_ABOVE_BYTES;
  const body = packed ? gzipSync(payload, { level: GZIP_LEVEL }).toString("base64url") : payload;
  const prefix = `${MAGIC} ${route.direction} ${route.cluster} ${packed ? "gzip" : "plain"}`;
  const signature = sign(null, Buffer.from(`${prefix}\n${body}`), key).toString("base64url");
  return `${prefix} ${signature}\n${body}`;
}

/** The payload, provided that one of `keys` signed it for this route. Throws nothing but ProtocolError. */
export function open(envelope: string | Uint8Array, route: Route, keys: readonly KeyObject[]): string {
  if (envelope.length > MAX_ENVELOPE_CHARS) throw new ProtocolError("protocol/too-large");
  const text = typeof envelope === "string" ? envelope : decodeUtf8(envelope);
  const [direction, cluster, encoding, signature, body] = split(text);
  if (direction !== route.direction || cluster !== route.cluster) {
    throw new ProtocolError("protocol/misdirected", `${direction} of ${cluster}`);
  }
  const signed = Buffer.from(`${MAGIC} ${direction} ${cluster} ${encoding}\n${body}`);
  const bytes = Buffer.from(signature, "base64url");
  const canonical = bytes.toString("base64url") === signature;
  if (!canonical || !text.isWellFormed() || !keys.some((key) => verify(null, signed, key, bytes))) {
    throw new ProtocolError("protocol/signature", `${direction} of ${cluster}`);
  }
  return encoding === "gzip" ? unpack(body) : checkedSize(body);
}

function split(text: string): [direction: string, cluster: string, encoding: string, signature: string, body: string] {
  const end = text.slice(0, 256).indexOf("\n");
  const header = text.slice(0, Math.max(end, 0));
  const [, direction, cluster, encoding, signature] = HEADER.exec(header) ?? [];
  if (direction === undefined || cluster === undefined || encoding === undefined || signature === undefined) {
    const other = /^jobferry\/(\d{1,6}) /.exec(header)?.[1];
    if (other !== undefined && other !== "1") throw new ProtocolError("protocol/version", `version ${other}`);
    throw new ProtocolError("protocol/malformed");
  }
  return [direction, cluster, encoding, signature, text.slice(end + 1)];
}

function checkedSize(body: string): string {
  if (Buffer.byteLength(body) > MAX_PAYLOAD_BYTES) throw new ProtocolError("protocol/too-large");
  return body;
}

function unpack(body: string): string {
  try {
    const packed = Buffer.from(body, "base64url");
    return decodeUtf8(gunzipSync(packed, { maxOutputLength: MAX_PAYLOAD_BYTES }));
  } catch (cause) {
    if (cause instanceof ProtocolError) throw cause;
    const code = (cause as NodeJS.ErrnoException).code;
    throw new ProtocolError(code === "ERR_BUFFER_TOO_LARGE" ? "protocol/too-large" : "protocol/encoding", code, cause);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ProtocolError("protocol/encoding", "not UTF-8", cause);
  }
}
