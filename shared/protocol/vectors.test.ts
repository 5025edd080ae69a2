/**
 * Exact bytes: fixed keys, salt and counter give these envelopes and no others. vectors.json was computed by another
 * implementation of the same construction (Python's cryptography), with the keys of RFC 7748, section 6.1.
 */
import { createCipheriv, createPrivateKey, diffieHellman, hkdfSync } from "node:crypto";
import { expect, it } from "vitest";
import { formatPrivateKey, type KeyPair, parseOwnKeys } from "./keys.ts";
import { parseClusterName, type Route } from "./names.ts";
import { Sealer } from "./sealer.ts";
import vectors from "./vectors.json" with { type: "json" };

const hex = (text: string): Buffer => Buffer.from(text, "hex");
/** DER of an X25519 private key up to its 32 bytes (RFC 8410). */
const PKCS8_HEADER = hex("302e020100300506032b656e04220420");

function pairOf(secret: string): KeyPair {
  const der = Buffer.concat([PKCS8_HEADER, hex(secret)]);
  return parseOwnKeys(formatPrivateKey(createPrivateKey({ key: der, type: "pkcs8", format: "der" })))[0];
}
const manager = pairOf(vectors.managerPrivateKey);
const cluster = pairOf(vectors.clusterPrivateKey);

it("the public keys are those of the private ones", () => {
  expect(manager.publicKey.text).toBe(vectors.managerPublicKey);
  expect(cluster.publicKey.text).toBe(vectors.clusterPublicKey);
});

it.each(vectors.envelopes)(
  "$direction of $cluster with counter $counter: the envelope is these bytes, and opens",
  (vector) => {
    const route = { direction: vector.direction, cluster: parseClusterName(vector.cluster) } as Route;
    const [sender, recipient] = route.direction === "delivery" ? [manager, cluster] : [cluster, manager];
    const sealer = new Sealer([sender], { newSalt: () => hex(vector.salt) });
    for (let before = 0; before < vector.counter; before++) sealer.seal("", route, recipient.publicKey);
    expect(sealer.seal(vector.payload, route, recipient.publicKey)).toBe(vector.envelope);
    expect(new Sealer([recipient]).open(vector.envelope, route, [sender.publicKey])).toBe(vector.payload);
  },
);

it("X25519 is that of RFC 7748, section 6.1", () => {
  const secret = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
  const [one, other] = [manager, cluster];
  expect(diffieHellman({ privateKey: one.privateKey, publicKey: other.publicKey.object }).toString("hex")).toBe(secret);
  expect(diffieHellman({ privateKey: other.privateKey, publicKey: one.publicKey.object }).toString("hex")).toBe(secret);
});

it("HKDF-SHA256 is that of RFC 5869, test case 1", () => {
  const okm = hkdfSync(
    "sha256",
    Buffer.alloc(22, 0x0b),
    hex("000102030405060708090a0b0c"),
    hex("f0f1f2f3f4f5f6f7f8f9"),
    42,
  );
  expect(Buffer.from(okm).toString("hex")).toBe(
    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
  );
});

it("AES-256-GCM is that of its specification, test case 16", () => {
  const key = hex("feffe9928665731c6d6a8f9467308308".repeat(2));
  const cipher = createCipheriv("aes-256-gcm", key, hex("cafebabefacedbaddecaf888"), { authTagLength: 16 });
  cipher.setAAD(hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"));
  const plain =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
  expect(`${cipher.update(plain, "hex", "hex")}${cipher.final("hex")}`).toBe(
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
  );
  expect(cipher.getAuthTag().toString("hex")).toBe("76fc6ece0f4e1768cddf8853bb2d551b");
});
