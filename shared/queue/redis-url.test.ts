import { describe, expect, it } from "vitest";
import { isInTheClear, parseRedisUrl, placesOf, redisUrlFor } from "./redis-url.ts";

describe("parseRedisUrl", () => {
  it.each([
    ["redis://redis", { isTls: false, hosts: [{ host: "redis", port: undefined }] }],
    ["rediss://u:p%40q@redis:6380/2", { isTls: true, username: "u", password: "p@q", database: 2 }],
    ["redis://[::1]:6379", { hosts: [{ host: "::1", port: 6379 }] }],
    [
      "rediss://jobferry-east@s1:26379,s2,10.0.0.3:26380",
      {
        username: "jobferry-east",
        hosts: [
          { host: "s1", port: 26_379 },
          { host: "s2", port: undefined },
          { host: "10.0.0.3", port: 26_380 },
        ],
      },
    ],
  ])("reads %s", (text, parts) => expect(parseRedisUrl(text)).toMatchObject(parts));

  it.each([
    "redis",
    "http://redis",
    "redis://",
    "redis://:6379",
    "redis://a,,b",
    "redis://a:0",
    "redis://a:99999",
    "redis://a/main",
    "redis://a b",
  ])("does not read %s", (text) => expect(parseRedisUrl(text)).toBeUndefined());
});

it("puts a user in, and shows places without one", () => {
  expect(redisUrlFor("rediss://a:1,b:2", "jobferry-east")).toBe("rediss://jobferry-east@a:1,b:2");
  expect(redisUrlFor("redis://old:secret@a", "jobferry-east")).toBe("redis://jobferry-east@a");
  expect(placesOf("rediss://u:hunter2@a:1,b:2/0")).toBe("a:1,b:2/0");
});

it.each([
  ["redis://redis.example:6379", true],
  ["redis://10.0.0.7", true],
  ["rediss://redis.example:6379", false],
  ["redis://127.0.0.1:6379", false],
  ["redis://localhost", false],
  ["redis://[::1]:6379", false],
  ["redis://127.0.0.1.example", true],
  ["redis://127.0.0.1:1,sentinel.example:26379", true],
])("%s shows passwords to the network: %s", (url, shows) => expect(isInTheClear(url)).toBe(shows));
