import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { ConfigError, loadConfig } from "./config.ts";

const dir = mkdtempSync(join(tmpdir(), "jobferry-config-"));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (text: string): string => {
  const path = join(dir, "config.yaml");
  writeFileSync(path, text);
  return path;
};

const schema = z.object({
  redisUrl: z.url().describe("address of Redis, as redis://host:6379"),
  concurrency: z.int().min(1).default(10),
  dryRun: z.boolean().optional(),
  namespaces: z.array(z.string()).default([]),
});
const redisUrl = "redis://h:1";

test("flags win over environment, environment over file, file over defaults", () => {
  const path = file("redisUrl: redis://file:1\nconcurrency: 2\ndryRun: true\n");
  const env = { JOBFERRY_REDIS_URL: "redis://env:1", JOBFERRY_CONCURRENCY: "3" };
  expect(loadConfig(schema, { file: path, env, flags: { concurrency: "4", dryRun: undefined } })).toEqual({
    redisUrl: "redis://env:1",
    concurrency: 4,
    dryRun: true,
    namespaces: [],
  });
});

test("text becomes numbers, booleans and lists", () => {
  const env = { JOBFERRY_CONCURRENCY: "7", JOBFERRY_DRY_RUN: "no", JOBFERRY_NAMESPACES: "a, b" };
  expect(loadConfig(schema, { env, flags: { redisUrl } })).toEqual({
    redisUrl,
    concurrency: 7,
    dryRun: false,
    namespaces: ["a", "b"],
  });
});

test("a list is given with commas, by saying the flag again, or both", () => {
  expect(loadConfig(schema, { flags: { redisUrl, namespaces: ["a,b", "c"] } }).namespaces).toEqual(["a", "b", "c"]);
  expect(loadConfig(schema, { flags: { redisUrl }, file: file("namespaces: [a, b]\n") }).namespaces).toEqual([
    "a",
    "b",
  ]);
});

test("variables that are not a field are left alone", () => {
  const env = { JOBFERRY_MANAGER_SERVICE_HOST: "10.0.0.1", JOBFERRY_REDIS_URL: redisUrl };
  expect(loadConfig(schema, { env }).redisUrl).toBe(redisUrl);
});

test("an empty file is not a configuration", () => {
  expect(loadConfig(schema, { file: file("# nothing\n"), flags: { redisUrl } }).concurrency).toBe(10);
});

const wrong: [string, () => unknown, RegExp][] = [
  ["a missing field", () => loadConfig(schema, {}), /^--redis-url is missing \(address of Redis/],
  [
    "a bad flag",
    () => loadConfig(schema, { flags: { redisUrl, concurrency: "many" } }),
    /^--concurrency: .*expected number/,
  ],
  [
    "a bad variable",
    () => loadConfig(schema, { env: { JOBFERRY_REDIS_URL: "here" } }),
    /^JOBFERRY_REDIS_URL: Invalid URL/,
  ],
  [
    "an unknown key in the file",
    () => loadConfig(schema, { file: file("concurency: 3\n"), flags: { redisUrl } }),
    /^concurency in .*config.yaml: no such field, did you mean concurrency\?; there are redisUrl, concurrency/,
  ],
  [
    "a key spelt as a flag",
    () => loadConfig(schema, { file: file("redis-url: redis://h:1\n") }),
    /^redis-url in .*: no such field, did you mean redisUrl\?/,
  ],
  [
    "an unknown flag",
    () => loadConfig(schema, { flags: { redisUrl, fast: true } }),
    /^--fast: no such field; there are redisUrl, concurrency, dryRun, namespaces$/,
  ],
  ["a file that is not there", () => loadConfig(schema, { file: "/no/such" }), /\/no\/such cannot be read: ENOENT/],
  [
    "a file that is far too large",
    () => loadConfig(schema, { file: file(`a: ${"x".repeat(20_000)}`) }),
    /config.yaml cannot be read: it has 20003 characters, and at most 16384 are read/,
  ],
  ["a file that is not YAML", () => loadConfig(schema, { file: file("a: [") }), /config.yaml cannot be read/],
  ["a file that is a list", () => loadConfig(schema, { file: file("- a\n") }), /must hold fields/],
  [
    "a boolean that is none",
    () => loadConfig(schema, { flags: { redisUrl, dryRun: "maybe" } }),
    /^--dry-run: .*boolean/,
  ],
];
test.each(wrong)("%s is refused with field and fix, exit code 2", (_, act, message) => {
  expect(act).toThrow(ConfigError);
  expect(act).toThrow(message);
  expect(new ConfigError("x").exitCode).toBe(2);
});
