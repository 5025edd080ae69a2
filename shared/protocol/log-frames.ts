/**
 * The pieces of a log stream, sealed with a key that is made for this stream alone and travels in the sealed delivery that asks for
 * it. Each has a number, which is its nonce: one that is lost, doubled or made up shows.
 *
 *   <id of the stream, 16 bytes> <number, 4 bytes> <AES-256-GCM: kind, 1 byte, and what it says> <tag, 16 bytes>
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { ProtocolError } from "./errors.ts";

const CIPHER = "aes-256-gcm";
const ID_BYTES = 16;
const HEADER_BYTES = ID_BYTES + 4;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** Of one piece: each costs both sides some words with Redis, whatever its size. */
const MAX_PIECE_BYTES = 256 * 1024;
/** A reader that has read all that came tells the agent so once it is this much. */
export const CREDIT_BYTES = 32 * 1024;
/** And while there is more to read, once it is this much. */
export const BUSY_CREDIT_BYTES = MAX_PIECE_BYTES;
/** What the agent sends of one log without word from the reader: then it waits until some of it was read. */
export const WINDOW_BYTES = 1024 * 1024;
/** All logs of a cluster share this much; where they are many, each has a smaller window. */
const WINDOWS_BYTES = 16 * WINDOW_BYTES;
/** A reader of the previous release is silent until it has read 64 KiB: beside those a piece has to find room. */
const SMALLEST_WINDOW_BYTES = 128 * 1024;

export const windowBytes = (streams: number): number =>
  Math.max(SMALLEST_WINDOW_BYTES, Math.min(WINDOW_BYTES, Math.floor(WINDOWS_BYTES / Math.max(1, streams))));

/** Half a window at most, so that one piece can be read while the next is on its way. */
export const pieceBytes = (window: number): number => Math.min(MAX_PIECE_BYTES, window / 2);

const KINDS = ["start", "data", "end", "error", "alive", "credit", "stop"] as const;
export type PieceKind = (typeof KINDS)[number];

export interface StreamSecret {
  /** 16 bytes in hex. */
  readonly stream: string;
  /** 32 bytes in base64. */
  readonly key: string;
}

export const newStreamSecret = (): StreamSecret => ({
  stream: randomBytes(ID_BYTES).toString("hex"),
  key: randomBytes(KEY_BYTES).toString("base64"),
});

/** Which stream a piece claims to belong to. */
export const streamOf = (piece: Buffer): string => piece.subarray(0, ID_BYTES).toString("hex");

/** `frames`: from the agent. `credits`: from the reader. */
type Direction = "frames" | "credits";

/** One end of one direction: seals, or opens, in order. */
export class PieceSeal {
  readonly #id: Buffer;
  readonly #key: KeyObject;
  readonly #direction: Direction;
  #number = 0;

  constructor(secret: StreamSecret, direction: Direction) {
    this.#id = Buffer.from(secret.stream, "hex");
    this.#key = createSecretKey(secret.key, "base64");
    this.#direction = direction;
  }

  seal(kind: PieceKind, said: Buffer = Buffer.alloc(0)): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    this.#id.copy(header);
    header.writeUInt32BE(this.#number, ID_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, this.#nonce(), { authTagLength: TAG_BYTES });
    this.#number++;
    cipher.setAAD(header);
    const first = cipher.update(Buffer.of(KINDS.indexOf(kind)));
    const rest = cipher.update(said);
    cipher.final();
    return Buffer.concat([header, first, rest, cipher.getAuthTag()]);
  }

  /** Throws ProtocolError for any piece but the next. */
  open(piece: Buffer): { readonly kind: PieceKind; readonly said: Buffer } {
    if (piece.length < HEADER_BYTES + 1 + TAG_BYTES) throw new ProtocolError("protocol/malformed", "a piece of a log");
    const header = piece.subarray(0, HEADER_BYTES);
    if (header.readUInt32BE(ID_BYTES) !== this.#number)
      throw new ProtocolError("protocol/malformed", "a piece of the log was lost on its way");
    const decipher = createDecipheriv(CIPHER, this.#key, this.#nonce(), { authTagLength: TAG_BYTES });
    decipher.setAAD(header);
    decipher.setAuthTag(piece.subarray(-TAG_BYTES));
    let body: Buffer;
    try {
      body = decipher.update(piece.subarray(HEADER_BYTES, -TAG_BYTES));
      // Throws unless the seal is whole; nothing is left to come out of this cipher.
      decipher.final();
    } catch (cause) {
      throw new ProtocolError("protocol/seal", undefined, cause);
    }
    const kind = KINDS[body[0] ?? KINDS.length];
    if (kind === undefined) throw new ProtocolError("protocol/malformed", "a piece of a log");
    this.#number++;
    return { kind, said: body.subarray(1) };
  }

  #nonce(): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt8(this.#direction === "frames" ? 1 : 2);
    nonce.writeUInt32BE(this.#number, 8);
    return nonce;
  }
}

/** How the agent says why there is no log. */
export interface LogRefusal {
  /** As HTTP has them. */
  readonly code: number;
  readonly message: string;
}

const MAX_REFUSAL_CHARS = 1024;

export const sayRefusal = ({ code, message }: LogRefusal): Buffer =>
  Buffer.from(`${code} ${message.slice(0, MAX_REFUSAL_CHARS)}`);

export function readRefusal(said: Buffer): LogRefusal {
  const [, code = "502", message = ""] = /^(\d{3}) (.*)$/s.exec(said.toString("utf8")) ?? [];
  return { code: Number(code), message };
}
