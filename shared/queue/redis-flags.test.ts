import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { realClock } from "../runtime/clock.ts";
import { silentLogger } from "../runtime/logger.ts";
import { openRedisBus, readRedisFlags } from "./redis-flags.ts";

const directory = mkdtempSync(join(tmpdir(), "jobferry-flags-"));
const passwordFile = join(directory, "password");
writeFileSync(passwordFile, "s3cret\n");
const emptyFile = join(directory, "empty");
writeFileSync(emptyFile, "\n");
afterAll(() => rmSync(directory, { recursive: true }));

describe("readRedisFlags", () => {
  it("joins the user of the URL with the password of the file", () => {
    expect(readRedisFlags({ redisUrl: "redis://jobferry-east@redis:6379", redisPasswordFile: passwordFile })).toEqual({
      url: "redis://redis:6379/0",
      username: "jobferry-east",
      password: "s3cret",
    });
  });

  it("leaves a complete URL as it is", () => {
    expect(readRedisFlags({ redisUrl: "rediss://u:p@redis" })).toEqual({
      ...{ url: "rediss://redis:6379/0", username: "u", password: "p", tls: {} },
    });
  });

  it("hands on the files for TLS, with a password from a file or without", () => {
    const files = { redisCaFile: passwordFile, redisCertFile: passwordFile, redisKeyFile: passwordFile };
    const tls = { caFile: passwordFile, certFile: passwordFile, keyFile: passwordFile };
    expect(readRedisFlags({ redisUrl: "rediss://redis", ...files })).toEqual({ url: "rediss://redis:6379/0", tls });
    expect(readRedisFlags({ redisUrl: "rediss://u@redis", redisPasswordFile: passwordFile, ...files })).toEqual({
      ...{ url: "rediss://redis:6379/0", username: "u", password: "s3cret", tls },
    });
  });

  it("reaches one Redis, the Sentinels, or a Redis Cluster", () => {
    expect(readRedisFlags({ redisUrl: "redis://[::1]/3" })).toEqual({ url: "redis://[::1]:6379/3" });
    expect(
      readRedisFlags({
        ...{ redisUrl: "rediss://u@s1,s2:26380", redisMode: "sentinel", redisSentinelMaster: "main" },
        ...{ redisPasswordFile: passwordFile, redisSentinelPasswordFile: passwordFile },
      }),
    ).toEqual({
      sentinel: {
        master: "main",
        password: "s3cret",
        nodes: [
          { host: "s1", port: 26_379 },
          { host: "s2", port: 26_380 },
        ],
      },
      ...{ username: "u", password: "s3cret", tls: {} },
    });
    expect(readRedisFlags({ redisUrl: "redis://n1,n2:7001", redisMode: "cluster" })).toEqual({
      cluster: {
        nodes: [
          { host: "n1", port: 6379 },
          { host: "n2", port: 7001 },
        ],
      },
    });
  });

  it.each([
    ["files for TLS without TLS", { redisUrl: "redis://redis", redisCaFile: passwordFile }, /^--redis-url: .*rediss:/],
    ["half a certificate", { redisUrl: "rediss://redis", redisKeyFile: passwordFile }, /belong together/],
    ["a missing authority", { redisUrl: "rediss://redis", redisCaFile: "/nowhere" }, /^--redis-ca-file \/nowhere: /],
    ["another scheme", { redisUrl: "http://redis" }, /^--redis-url: .*must begin with redis:/],
    ["no URL", { redisUrl: "redis", redisPasswordFile: passwordFile }, /^--redis-url: /],
    ["no host", { redisUrl: "redis://:6379" }, /^--redis-url: .*redis:\/\/host:port/],
    ["a port that is none", { redisUrl: "redis://redis:99999" }, /^--redis-url: .*redis:\/\/host:port/],
    ["a database that is none", { redisUrl: "redis://redis/main" }, /^--redis-url: .*database number/],
    [
      "a missing file",
      { redisUrl: "redis://redis", redisPasswordFile: "/nowhere" },
      /^--redis-password-file \/nowhere: /,
    ],
    ["several hosts of nothing", { redisUrl: "redis://a,b" }, /^--redis-url: several hosts need --redis-mode/],
    [
      "a database in a Redis Cluster",
      { redisUrl: "redis://a/3", redisMode: "cluster" as const },
      /^--redis-url: .*host:port,host:port/,
    ],
    ["an empty file", { redisUrl: "redis://redis", redisPasswordFile: emptyFile }, /empty: the file is empty; write/],
  ])("refuses %s with exit code 2, and names the flag", (_, flags, says) => {
    expect(() => readRedisFlags(flags)).toThrow(says);
    expect(() => readRedisFlags(flags)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it("never repeats a password", () => {
    expect(() => readRedisFlags({ redisUrl: "redis://u:hunter2@redis:99999" })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
    );
  });
});

it.each([
  ["redis://elsewhere:6379", ["the password goes to Redis in the clear: use rediss:// and TLS"]],
  ["redis://127.0.0.1:6379", []],
  ["rediss://elsewhere:6379", []],
])("warns before it connects to %s: %o", async (redisUrl, warnings) => {
  const heard: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, text: string) => void heard.push(text) };
  // Refused for another reason, so that nothing is connected to.
  const opened = openRedisBus({ redisUrl, redisCertFile: passwordFile }, { clock: realClock, logger });
  await expect(opened).rejects.toThrow(/--redis-/);
  expect(heard).toEqual(warnings);
});
