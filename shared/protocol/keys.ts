import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ProtocolError } from "./errors.ts";

/** DER of an ed25519 SubjectPublicKeyInfo up to the 32 bytes of the key (RFC 8410). */
const SPKI_HEADER = Buffer.from("302a300506032b6570032100", "hex");

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function generateKeyPair(): KeyPair {
  return generateKeyPairSync("ed25519");
}

/** As it stands in a WorkerCluster: base64 of the 32 raw bytes, 44 characters. */
export function formatPublicKey(key: KeyObject): string {
  return key.export({ type: "spki", format: "der" }).subarray(SPKI_HEADER.length).toString("base64");
}

export function parsePublicKey(text: string): KeyObject {
  const raw = Buffer.from(text, "base64");
  if (raw.length !== 32 || raw.toString("base64") !== text) {
    throw new ProtocolError("protocol/key", "a public key is base64 of 32 bytes: 44 characters ending in =");
  }
  return createPublicKey({ key: Buffer.concat([SPKI_HEADER, raw]), type: "spki", format: "der" });
}

export function formatPrivateKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

export function parsePrivateKey(pem: string): KeyPair {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new ProtocolError("protocol/key", "a private key is PKCS#8 in PEM", cause);
  }
  if (privateKey.asymmetricKeyType !== "ed25519") {
    throw new ProtocolError("protocol/key", `the private key is ${privateKey.asymmetricKeyType}`);
  }
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

export async function readPrivateKey(path: string): Promise<KeyPair> {
  let pem: string;
  try {
    pem = await readFile(path, "utf8");
  } catch (cause) {
    throw new ProtocolError("protocol/key", `cannot read ${path}`, cause);
  }
  return parsePrivateKey(pem);
}
