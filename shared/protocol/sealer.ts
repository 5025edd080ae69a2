/**
 * Seals what we send and opens what we receive, so that a message is private and authentic at once. The key of a message is
 * HKDF-SHA256 over the X25519 secret that the two static keys share, with the sender's salt, and bound to the protocol, the
 * cluster, the direction and both public keys. The body is under AES-256-GCM, with the header as authenticated data.
 *
 * A nonce must never be used twice with one key. It is a counter that starts at 0 with each new salt, and a salt is 32
 * random bytes that live in this object alone: drawn at the process's start, never stored, never taken from a peer. So a
 * restart, a second replica and the other direction each have keys of their own, and within one key the counter grows.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { LruMap } from "../runtime/lru-map.ts";
import { formatEnvelope, formatHeader, pack, parseEnvelope, unpack, VERSION } from "./envelope.ts";
import { ProtocolError } from "./errors.ts";
import type { KeyPair, OwnKeys, PublicKey } from "./keys.ts";
import type { Route } from "./names.ts";
import { unknownRecipient, unknownSender } from "./refusals.ts";

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;
/** Far below what AES-GCM may safely carry under one key, even if every message were as large as they get. */
const MESSAGES_PER_SALT = 2 ** 20;
/** A few for each cluster of a large fleet: every agent that was restarted has another salt. */
const KEPT_KEYS = 4096;

export interface SealerOptions {
  /** 32 bytes that nobody can foresee and nobody has used. */
  readonly newSalt?: () => Buffer;
  readonly messagesPerSalt?: number;
  readonly keptKeys?: number;
}

export class Sealer {
  readonly #own: OwnKeys;
  readonly #newSalt: () => Buffer;
  readonly #messagesPerSalt: number;
  /** Of messages: deriving one costs as much as sealing dozens. */
  readonly #keys: LruMap<string, KeyObject>;
  #salt: string;
  #counter = 0;

  constructor(own: OwnKeys, options: SealerOptions = {}) {
    this.#own = own;
    this.#newSalt = options.newSalt ?? (() => randomBytes(32));
    this.#messagesPerSalt = options.messagesPerSalt ?? MESSAGES_PER_SALT;
    this.#keys = new LruMap(options.keptKeys ?? KEPT_KEYS);
    this.#salt = this.#newSalt().toString("base64url");
  }

  seal(payload: string, route: Route, recipient: PublicKey): string {
    const { encoding, bytes } = pack(payload);
    const [own] = this.#own;
    if (this.#counter === this.#messagesPerSalt) {
      this.#salt = this.#newSalt().toString("base64url");
      this.#counter = 0;
    }
    const salt = this.#salt;
    const counter = BigInt(this.#counter++);
    const header = formatHeader(route, { encoding, from: own.publicKey.id, to: recipient.id, salt, counter });
    const key = this.#keys.getOrAdd(nameOf(route, own.publicKey, recipient, salt), () =>
      messageKey(own, recipient, { route, salt, sender: own.publicKey, recipient }),
    );
    const cipher = createCipheriv(CIPHER, key, nonceOf(counter), { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(header));
    return formatEnvelope(header, Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  }

  /** The payload, provided that one of `senders` sealed it to us for this route. Throws nothing but ProtocolError. */
  open(envelope: string, route: Route, senders: readonly PublicKey[]): string {
    const { text, encoding, from, to, salt, counter, body } = parseEnvelope(envelope, route);
    const own = this.#own.find(({ publicKey }) => publicKey.id === to);
    if (own === undefined)
      throw new ProtocolError("protocol/unknown-key", unknownRecipient(to, route, this.#own[0].publicKey));
    const sender = senders.find(({ id }) => id === from);
    if (sender === undefined) throw new ProtocolError("protocol/unknown-key", unknownSender(from, route));
    const name = nameOf(route, sender, own.publicKey, salt);
    const known = this.#keys.get(name);
    const key = known ?? messageKey(own, sender, { route, salt, sender, recipient: own.publicKey });
    const bytes = decrypt(body, key, counter, text);
    // Kept only now: salts that a forger makes up must not push the true ones out.
    if (known === undefined) this.#keys.set(name, key);
    return unpack(bytes, encoding);
  }
}

interface Binding {
  readonly route: Route;
  readonly salt: string;
  readonly sender: PublicKey;
  readonly recipient: PublicKey;
}

function messageKey(own: KeyPair, peer: PublicKey, { route, salt, sender, recipient }: Binding): KeyObject {
  const secret = diffieHellman({ privateKey: own.privateKey, publicKey: peer.object });
  const context = Buffer.from(`jobferry/${VERSION} ${route.direction} ${route.cluster} `);
  const info = Buffer.concat([context, sender.bytes, recipient.bytes]);
  return createSecretKey(Buffer.from(hkdfSync("sha256", secret, Buffer.from(salt, "base64url"), info, 32)));
}

const nameOf = (route: Route, sender: PublicKey, recipient: PublicKey, salt: string): string =>
  `${route.direction} ${route.cluster} ${sender.text} ${recipient.text} ${salt}`;

/** 96 bits, big-endian. */
function nonceOf(counter: bigint): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(counter, 4);
  return nonce;
}

function decrypt(body: Buffer, key: KeyObject, counter: bigint, header: string): Buffer {
  if (body.length < TAG_BYTES) throw new ProtocolError("protocol/seal", "cut short");
  const decipher = createDecipheriv(CIPHER, key, nonceOf(counter), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(header));
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new ProtocolError("protocol/seal", undefined, cause);
  }
}
