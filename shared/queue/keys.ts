import type { ClusterName } from "../protocol/names.ts";
import type { Address } from "./bus.ts";

/** The braces keep all keys of a prefix in one slot of a Redis Cluster, and end the pattern of an ACL. */
export const HUB_PREFIX = "{jobferry}";
export const clusterPrefix = (cluster: ClusterName): string => `{jobferry-${cluster}}`;

export const prefixOf = (address: Address): string =>
  "cluster" in address ? clusterPrefix(address.cluster) : HUB_PREFIX;
