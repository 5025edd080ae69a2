import { compileCache, killedPrograms } from "./compile-cache.ts";
import { controlPlaneAssets } from "./real-cluster-options.ts";
import { findRedis } from "./redis.ts";
import { outputOf, runCommand } from "./run-command.ts";

/** Builds and installs what the tests stand on before the first of them starts its timeout. */
export default async function setup(): Promise<void> {
  await Promise.all([controlPlaneAssets(), findRedis()]);
  const env = { ...process.env, ...compileCache };
  await Promise.all(
    killedPrograms.map((program) => outputOf(runCommand(process.execPath, [program, "--help"], { env }))),
  );
}
