/**
 * One line of header in the clear, then the sealed body in base64url:
 *
 *   jobferry/2 delivery east gzip <sender's key id> <recipient's key id> <salt> <counter>
 *   <body>
 *
 * The direction and the cluster say who speaks to whom: `delivery` is manager to cluster, `report` cluster to manager. The
 * whole header is authenticated with the body (sealer.ts), so that nothing is unpacked or parsed before its sender is
 * known, and a message means nothing in another place, direction or version.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { ProtocolError } from "./errors.ts";
import { GZIP_ABOVE_BYTES, MAX_ENVELOPE_CHARS, MAX_HEADER_CHARS, MAX_PAYLOAD_BYTES } from "./limits.ts";
import type { Route } from "./names.ts";
import { otherVersion } from "./refusals.ts";

export const VERSION = 2;
const HEADER =
  /^jobferry\/2 (delivery|report) ([a-z0-9-]{1,63}) (plain|gzip) ([0-9a-f]{16}) ([0-9a-f]{16}) ([A-Za-z0-9_-]{43}) (0|[1-9]\d{0,15})$/;
/** gzip's fastest: a Job compresses well at any level, and the hand-over is on the path of every Job. */
const GZIP_LEVEL = 1;

export interface Header {
  readonly encoding: "plain" | "gzip";
  /** Ids of the sender's and the recipient's key. */
  readonly from: string;
  readonly to: string;
  /** 32 bytes in base64url. */
  readonly salt: string;
  readonly counter: bigint;
}

interface Envelope extends Header {
  /** The header as it came: what the seal covers. */
  readonly text: string;
  readonly body: Buffer;
}

export const formatHeader = ({ direction, cluster }: Route, { encoding, from, to, salt, counter }: Header): string =>
  `jobferry/${VERSION} ${direction} ${cluster} ${encoding} ${from} ${to} ${salt} ${counter}`;

export const formatEnvelope = (header: string, body: Buffer): string => `${header}\n${body.toString("base64url")}`;

/** An envelope of this route; whether its seal holds is not known yet. */
export function parseEnvelope(envelope: string, route: Route): Envelope {
  if (envelope.length > MAX_ENVELOPE_CHARS) throw new ProtocolError("protocol/too-large");
  const end = envelope.slice(0, MAX_HEADER_CHARS).indexOf("\n");
  const text = envelope.slice(0, Math.max(end, 0));
  const [, direction, cluster, encoding, from = "", to = "", salt = "", counter = ""] = HEADER.exec(text) ?? [];
  if (encoding !== "plain" && encoding !== "gzip") throw notAnEnvelope(text, route);
  if (direction !== route.direction || cluster !== route.cluster)
    throw new ProtocolError("protocol/misdirected", `${direction} of ${cluster}`);
  const base64 = envelope.slice(end + 1);
  const body = Buffer.from(base64, "base64url");
  // Node reads base64 leniently; there is one way to write an envelope.
  if (body.toString("base64url") !== base64) throw new ProtocolError("protocol/malformed", "the body is not base64url");
  return { text, encoding, from, to, salt, counter: BigInt(counter), body };
}

function notAnEnvelope(header: string, route: Route): ProtocolError {
  const version = /^jobferry\/(\d{1,6}) /.exec(header)?.[1];
  if (version === undefined || Number(version) === VERSION) return new ProtocolError("protocol/malformed");
  return new ProtocolError("protocol/version", otherVersion(Number(version), VERSION, route));
}

export function pack(payload: string): Pick<Header, "encoding"> & { readonly bytes: Buffer } {
  if (!payload.isWellFormed()) throw new ProtocolError("protocol/encoding", "unpaired surrogate");
  const bytes = Buffer.from(payload);
  if (bytes.length > MAX_PAYLOAD_BYTES) throw new ProtocolError("protocol/too-large", `${bytes.length} bytes`);
  const packed = bytes.length > GZIP_ABOVE_BYTES ? gzipSync(bytes, { level: GZIP_LEVEL }) : bytes;
  return packed.length < bytes.length ? { encoding: "gzip", bytes: packed } : { encoding: "plain", bytes };
}

export function unpack(bytes: Buffer, encoding: Header["encoding"]): string {
  const payload = encoding === "gzip" ? gunzip(bytes) : bytes;
  if (payload.length > MAX_PAYLOAD_BYTES) throw new ProtocolError("protocol/too-large");
  try {
    return utf8.decode(payload);
  } catch (cause) {
    throw new ProtocolError("protocol/encoding", "not UTF-8", cause);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function gunzip(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_PAYLOAD_BYTES });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ProtocolError(code === "ERR_BUFFER_TOO_LARGE" ? "protocol/too-large" : "protocol/encoding", code, cause);
  }
}
