/** The flags that say where Redis is and how it is reached: apart from what they start, so that `--help` answers at once. */
import { z } from "zod";

/** How Redis is reached, wherever it is. */
export const redisPlaceFlags = {
  redisMode: z
    .enum(["single", "sentinel", "cluster"])
    .default("single")
    .describe("what the URL names: one Redis, the Sentinels that know which one leads, or nodes of a Redis Cluster"),
  redisSentinelMaster: z
    .string()
    .min(1)
    .default("mymaster")
    .describe("the name under which the Sentinels know the Redis that leads"),
  redisCaFile: z
    .string()
    .optional()
    .describe("PEM file with the authority of Redis' certificate, with rediss://; else those that Node knows"),
};

/** How we connect to it. */
export const redisAccessFlags = {
  ...redisPlaceFlags,
  redisPasswordFile: z.string().optional().describe("file with the password of the Redis user, instead of in the URL"),
  redisSentinelPasswordFile: z
    .string()
    .optional()
    .describe("file with the password of the Sentinels, if they ask for one"),
  redisCertFile: z.string().optional().describe("PEM file with our own certificate, where Redis asks for one"),
  redisKeyFile: z.string().optional().describe("PEM file with the private key of that certificate"),
};

export const redisFlags = {
  redisUrl: z
    .string()
    .default("redis://127.0.0.1:6379")
    .describe(
      "redis://host:port or rediss://host:port; user and password may stand in it, and several hosts after commas",
    ),
  ...redisAccessFlags,
};
