import { controlPlaneAssets } from "./real-cluster-options.ts";
import { findRedis } from "./redis.ts";

/** Builds and installs what the tests stand on before the first of them starts its timeout. */
export default async function setup(): Promise<void> {
  await Promise.all([controlPlaneAssets(), findRedis()]);
}
