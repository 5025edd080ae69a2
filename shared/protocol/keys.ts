import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { readFile } from "node:fs/promises";
import { ProtocolError } from "./errors.ts";
import { MAX_OWN_KEYS } from "./limits.ts";

/** DER of an X25519 SubjectPublicKeyInfo up to the 32 bytes of the key (RFC 8410). */
const SPKI_HEADER = Buffer.from("302a300506032b656e032100", "hex");

export interface PublicKey {
  /** As it stands in a WorkerCluster: base64 of the 32 bytes, 44 characters. */
  readonly text: string;
  /** Names the key in an envelope's header: the first 64 bits of its SHA-256, in hex. */
  readonly id: string;
  readonly bytes: Buffer;
  readonly object: KeyObject;
}

export interface KeyPair {
  readonly publicKey: PublicKey;
  readonly privateKey: KeyObject;
}

/** The first one is used; what comes under the others is read too, so that keys can be changed without a gap. */
export type OwnKeys = readonly [KeyPair, ...KeyPair[]];

/** Of the other side: what we send is for the first one; what comes may be sealed with any of them. */
export type PeerKeys = readonly [PublicKey, ...PublicKey[]];

export const generateKeyPair = (): KeyPair => pairOf(generateKeyPairSync("x25519").privateKey);

export function parsePublicKey(text: string): PublicKey {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== 32 || bytes.toString("base64") !== text)
    throw new ProtocolError("protocol/key", "a public key is base64 of 32 bytes: 44 characters ending in =");
  const object = createPublicKey({ key: Buffer.concat([SPKI_HEADER, bytes]), type: "spki", format: "der" });
  try {
    // A few points (RFC 7748, section 6.1) give the same secret with every key: anybody could seal for them.
    diffieHellman({ privateKey: PROBE, publicKey: object });
  } catch (cause) {
    throw new ProtocolError("protocol/key", "this public key keeps no secret", cause);
  }
  return { text, id: createHash("sha256").update(bytes).digest("hex").slice(0, 16), bytes, object };
}

export function parsePeerKeys([first = "", ...others]: readonly string[]): PeerKeys {
  return [parsePublicKey(first), ...others.map(parsePublicKey)];
}

const PROBE = generateKeyPairSync("x25519").privateKey;

export function formatPrivateKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** One key in PEM, or while keys are changed two, one below the other. */
export function parseOwnKeys(pem: string): OwnKeys {
  const blocks = pem.match(/-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g) ?? [];
  if (blocks.length > MAX_OWN_KEYS)
    throw new ProtocolError("protocol/key", `${blocks.length} private keys, and not ${MAX_OWN_KEYS} at most`);
  const [first, ...others] = blocks;
  if (first === undefined) throw new ProtocolError("protocol/key", "a private key is PKCS#8 in PEM");
  return [parsePrivateKey(first), ...others.map(parsePrivateKey)];
}

export async function readOwnKeys(path: string): Promise<OwnKeys> {
  let pem: string;
  try {
    pem = await readFile(path, "utf8");
  } catch (cause) {
    throw new ProtocolError("protocol/key", `cannot read ${path}`, cause);
  }
  return parseOwnKeys(pem);
}

function parsePrivateKey(pem: string): KeyPair {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new ProtocolError("protocol/key", "a private key is PKCS#8 in PEM", cause);
  }
  const type = privateKey.asymmetricKeyType;
  if (type !== "x25519") throw new ProtocolError("protocol/key", `the private key is ${type}; ${HOW_TO_MAKE_ONE}`);
  return pairOf(privateKey);
}

const HOW_TO_MAKE_ONE =
  "make the manager's with `openssl genpkey -algorithm x25519`, an agent's with `jobferry cluster add NAME --renew`";

function pairOf(privateKey: KeyObject): KeyPair {
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return { privateKey, publicKey: parsePublicKey(der.subarray(SPKI_HEADER.length).toString("base64")) };
}
