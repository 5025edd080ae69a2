/** The agent as one file: the suite starts it about a hundred times, and a bundle starts in a third of the time. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { leanClient } from "../../scripts/lean-client.ts";

const root = join(import.meta.dirname, "../..");

/** Writes `agent.mjs` into `directory` and returns the command that runs it. */
export async function bundleAgent(directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  const outfile = join(directory, "agent.mjs");
  await build({
    entryPoints: [join(root, "worker-agent/main.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    plugins: [leanClient],
    // Dependencies in CommonJS expect `require`.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "warning",
  });
  return [process.execPath, outfile];
}
