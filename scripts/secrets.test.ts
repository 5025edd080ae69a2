/** No key, token or password is committed. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const LARGEST = 5 * 2 ** 20;

/** Written so that this file does not hold what it looks for. */
const SECRETS: Record<string, RegExp> = {
  "a private key": /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:\s|\\n)+[A-Za-z0-9+/=]{40,}/,
  "a key in a kubeconfig": /client-key-data: *["']?[A-Za-z0-9+/=]{100,}/,
  "a token of a service account": /\beyJ[\w-]{30,}\.eyJ[\w-]{60,}\.[\w-]{60,}/,
  "a key of AWS": /\bAKIA[0-9A-Z]{16}\b/,
  "a token of GitHub": /\bgh[pousr]_[A-Za-z0-9]{36,}\b/,
  "a token of npm": /\bnpm_[A-Za-z0-9]{36,}\b/,
  "a key of Google": /\bAIza[\w-]{35}\b/,
  "a token of Slack": /\bxox[abprs]-[\w-]{20,}/,
};

/** Made for a test, and good for nothing else. */
const KNOWN = new Set(["shared/protocol/vectors.json"]);

const found = (text: string): string[] =>
  Object.entries(SECRETS).flatMap(([what, pattern]) => (pattern.test(text) ? [what] : []));

it("no file of the project holds a secret", () => {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  }).split("\0");
  const texts = files.filter((path) => {
    const at = join(root, path);
    return path !== "" && existsSync(at) && statSync(at).isFile() && statSync(at).size < LARGEST && !KNOWN.has(path);
  });
  expect(texts.length).toBeGreaterThan(500);
  const secrets = texts.flatMap((path) =>
    found(readFileSync(join(root, path), "utf8")).map((what) => `${path}: ${what}`),
  );
  expect(secrets).toEqual([]);
});

it("a secret would be found", () => {
  const body = "MC4CAQAwBQYDK2VuBCIEIJ".padEnd(64, "A");
  expect(found(`key: |\n  -----BEGIN PRIVATE ${"KEY"}-----\n  ${body}`)).toEqual(["a private key"]);
  expect(found(`{"pem":"-----BEGIN EC PRIVATE ${"KEY"}-----\\n${body}"}`)).toEqual(["a private key"]);
  expect(found(`AKI${"A".repeat(17)}`)).toEqual(["a key of AWS"]);
  expect(found(`token: eyJ${"a".repeat(40)}.eyJ${"b".repeat(80)}.${"c".repeat(80)}`)).toEqual([
    "a token of a service account",
  ]);
  expect(found("-----BEGIN PUBLIC KEY-----\nMC4CAQAwBQYDK2VuBCIEIJ")).toEqual([]);
});
