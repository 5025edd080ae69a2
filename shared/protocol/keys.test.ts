import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { open, seal } from "./envelope.ts";
import { ProtocolError } from "./errors.ts";
import {
  formatPrivateKey,
  formatPublicKey,
  generateKeyPair,
  parsePrivateKey,
  parsePublicKey,
  readPrivateKey,
} from "./keys.ts";
import { parseClusterName } from "./names.ts";

it("writes public keys as WorkerCluster holds them", () => {
  const text = formatPublicKey(generateKeyPair().publicKey);
  expect(text).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(formatPublicKey(parsePublicKey(text))).toBe(text);
});

it("reads back a key pair that signs for the same public key", async () => {
  const pair = generateKeyPair();
  const directory = mkdtempSync(join(tmpdir(), "keys-"));
  try {
    const path = join(directory, "key.pem");
    writeFileSync(path, formatPrivateKey(pair.privateKey));
    const read = await readPrivateKey(path);
    const route = { direction: "report", cluster: parseClusterName("a") } as const;
    expect(open(seal("x", route, read.privateKey), route, [parsePublicKey(formatPublicKey(pair.publicKey))])).toBe("x");
    expect(formatPublicKey(read.publicKey)).toBe(formatPublicKey(pair.publicKey));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it.each([
  "",
  "AAAA",
  "A".repeat(44),
  `${"A".repeat(43)}`,
  ` ${"A".repeat(43)}=`,
  "ä".repeat(44),
  `${"A".repeat(42)}B=`,
])("refuses %j as a public key", (text) => expect(() => parsePublicKey(text)).toThrow(ProtocolError));

it("refuses private keys that are not ed25519 in PEM", async () => {
  const rsa = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  expect(() => parsePrivateKey(formatPrivateKey(rsa))).toThrow(/the private key is ec/);
  expect(() => parsePrivateKey("secret")).toThrow(ProtocolError);
  await expect(readPrivateKey("/nowhere/key.pem")).rejects.toThrow(/cannot read \/nowhere\/key.pem/);
});
