import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readRedisFlags } from "./redis-flags.ts";

const directory = mkdtempSync(join(tmpdir(), "jobferry-flags-"));
const passwordFile = join(directory, "password");
writeFileSync(passwordFile, "s3cret\n");
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

  it.each([
    ["another scheme", { redisUrl: "http://redis" }],
    ["no URL", { redisUrl: "redis", redisPasswordFile: passwordFile }],
    ["a missing file", { redisUrl: "redis://redis", redisPasswordFile: join(directory, "none") }],
  ])("refuses %s with exit code 2", (_, flags) => {
    expect(() => readRedisFlags(flags)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
