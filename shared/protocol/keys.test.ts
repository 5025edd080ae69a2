import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ProtocolError } from "./errors.ts";
import { formatPrivateKey, generateKeyPair, parseOwnKeys, parsePeerKeys, parsePublicKey, readOwnKeys } from "./keys.ts";

const pem = (): string => formatPrivateKey(generateKeyPair().privateKey);

it("writes public keys as WorkerCluster holds them", () => {
  const { text } = generateKeyPair().publicKey;
  expect(text).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(parsePublicKey(text).text).toBe(text);
});

it("names a key by 16 hexadecimal digits that depend on it alone", () => {
  const { text, id } = generateKeyPair().publicKey;
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(parsePublicKey(text).id).toBe(id);
  expect(generateKeyPair().publicKey.id).not.toBe(id);
});

it("reads back a key pair from its file, and a second one below it", async () => {
  const [one, other] = [generateKeyPair(), generateKeyPair()];
  const directory = mkdtempSync(join(tmpdir(), "keys-"));
  try {
    const path = join(directory, "key.pem");
    writeFileSync(path, formatPrivateKey(one.privateKey));
    expect((await readOwnKeys(path)).map(({ publicKey }) => publicKey.text)).toEqual([one.publicKey.text]);
    writeFileSync(path, `${formatPrivateKey(other.privateKey)}\n${formatPrivateKey(one.privateKey)}`);
    const texts = [other.publicKey.text, one.publicKey.text];
    expect((await readOwnKeys(path)).map(({ publicKey }) => publicKey.text)).toEqual(texts);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it("reads the keys of the other side in their order", () => {
  const texts = [generateKeyPair().publicKey.text, generateKeyPair().publicKey.text];
  expect(parsePeerKeys(texts).map(({ text }) => text)).toEqual(texts);
  expect(() => parsePeerKeys([])).toThrow(ProtocolError);
});

const hex = (text: string): string => Buffer.from(text, "hex").toString("base64");
it.each([
  "",
  "AAAA",
  "A".repeat(44),
  `${"A".repeat(43)}`,
  ` ${"A".repeat(43)}=`,
  "ä".repeat(44),
  `${"A".repeat(42)}B=`,
])("refuses %j as a public key", (text) => expect(() => parsePublicKey(text)).toThrow(/44 characters/));

it.each([
  hex("00".repeat(32)),
  hex(`01${"00".repeat(31)}`),
  hex(`ec${"ff".repeat(30)}7f`),
  hex(`ed${"ff".repeat(30)}7f`),
  hex(`ee${"ff".repeat(30)}7f`),
  hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
  hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
])("refuses %s, with which every secret is the same", (text) =>
  expect(() => parsePublicKey(text)).toThrow(/keeps no secret/),
);

it("refuses an ed25519 key in one sentence with the commands that make a new one", () => {
  const old = formatPrivateKey(generateKeyPairSync("ed25519").privateKey);
  const want = /the private key is ed25519; .*`openssl genpkey -algorithm x25519`.*`jobferry cluster add NAME --renew`/;
  expect(() => parseOwnKeys(old)).toThrow(want);
  expect(() => parseOwnKeys(`${pem()}${old}`)).toThrow(want);
});

it("refuses what is not one or two private keys in PEM", async () => {
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  expect(() => parseOwnKeys(formatPrivateKey(ec))).toThrow(/the private key is ec/);
  for (const text of ["", "secret", pem().replace("M", "?"), pem().slice(0, -30)])
    expect(() => parseOwnKeys(text)).toThrow(/PKCS#8 in PEM/);
  expect(() => parseOwnKeys(pem() + pem() + pem())).toThrow(/3 private keys/);
  await expect(readOwnKeys("/nowhere/key.pem")).rejects.toThrow(/cannot read \/nowhere\/key.pem/);
});
