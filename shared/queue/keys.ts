import type { ClusterName } from "../protocol/names.ts";
import type { Address } from "./bus.ts";

/** The braces keep all keys of a prefix in one slot of a Redis Cluster, and end the pattern of an ACL. */
export const clusterPrefix = (cluster: ClusterName): string => `{jobferry-${cluster}}`;

export const prefixOf = ({ cluster }: Address): string => clusterPrefix(cluster);
