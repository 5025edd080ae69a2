/** The flags of `jobferry cluster ...`: apart from what they start, so that `--help` answers at once. */
import { redisPlaceFlags } from "@jobferry/shared/queue/redis-access.ts";
import { z } from "zod";
import { hubConfig } from "../hub/flags.ts";

export const addConfig = hubConfig.extend({
  redisUrl: z
    .string()
    .regex(/^rediss?:\/\/[^\s@]+$/, "must be redis://host:port or rediss://host:port, without a user")
    .describe("Redis as the worker cluster reaches it; several hosts after commas"),
  ...redisPlaceFlags,
  managerKey: z.string().optional().describe("the manager's public key; else it is read from its Secret on the hub"),
  labels: z.string().default("").describe("labels of the cluster for selectors, such as zone=eu,gpu=yes"),
  file: z.string().optional().describe("write the worker's Secret to this file instead of standard output"),
  renew: z.boolean().default(false).describe("the cluster is enrolled already: give it new keys"),
});

export const forgetConfig = hubConfig.extend({
  force: z.boolean().default(false).describe("also when the cluster is connected"),
});

/** The flags of each command, for `--help`. */
export const clusterFlags = {
  add: addConfig,
  list: hubConfig,
  cordon: hubConfig,
  uncordon: hubConfig,
  drain: hubConfig,
  forget: forgetConfig,
} as const;
export type ClusterVerb = keyof typeof clusterFlags;
