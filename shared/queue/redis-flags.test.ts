import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isInTheClear, readRedisFlags } from "./redis-flags.ts";

const directory = mkdtempSync(join(tmpdir(), "jobferry-flags-"));
const passwordFile = join(directory, "password");
writeFileSync(passwordFile, "s3cret\n");
const emptyFile = join(directory, "empty");
writeFileSync(emptyFile, "\n");
afterAll(() => rmSync(directory, { recursive: true }));

describe("readRedisFlags", () => {
  it("joins the user of the URL with the password of the file", () => {
    expect(readRedisFlags({ redisUrl: "redis://jobferry-east@redis:6379", redisPasswordFile: passwordFile })).toEqual({
      url: "redis://redis:6379",
      username: "jobferry-east",
      password: "s3cret",
    });
  });

  it("leaves a complete URL as it is", () => {
    expect(readRedisFlags({ redisUrl: "rediss://u:p@redis" })).toEqual({ url: "rediss://u:p@redis" });
  });

  it("hands on the files for TLS, with a password from a file or without", () => {
    const files = { redisCaFile: passwordFile, redisCertFile: passwordFile, redisKeyFile: passwordFile };
    const tls = { caFile: passwordFile, certFile: passwordFile, keyFile: passwordFile };
    expect(readRedisFlags({ redisUrl: "rediss://redis", ...files })).toEqual({ url: "rediss://redis", tls });
    expect(readRedisFlags({ redisUrl: "rediss://u@redis", redisPasswordFile: passwordFile, ...files })).toEqual({
      ...{ url: "rediss://redis", username: "u", password: "s3cret", tls },
    });
  });

  it.each([
    ["redis://redis.example:6379", true],
    ["redis://10.0.0.7", true],
    ["rediss://redis.example:6379", false],
    ["redis://127.0.0.1:6379", false],
    ["redis://localhost", false],
    ["redis://[::1]:6379", false],
    ["redis://127.0.0.1.example", true],
  ])("%s shows passwords to the network: %s", (url, shows) => {
    expect(isInTheClear(url)).toBe(shows);
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
