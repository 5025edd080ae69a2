/** One file per program, with everything in it, for images and releases. */
import { existsSync } from "node:fs";
import { chmod, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { root, run } from "./run.ts";

const programs = {
  "jobferry.js": "cli/main.ts",
  "jobferry-agent.js": "worker-agent/main.ts",
  "jobferry-manager.js": "manager/main.ts",
};

// Some dependencies are CommonJS and call require for Node's own modules. (The #! line comes from the entry file.)
const banner = 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);';

await rm(join(root, "dist"), { recursive: true, force: true });
for (const [output, entry] of Object.entries(programs)) {
  if (!existsSync(join(root, entry))) continue;
  const outfile = join(root, "dist", output);
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    sourcemap: true,
    sourcesContent: false,
    banner: { js: banner },
    logLevel: "warning",
  });
  await chmod(outfile, 0o755);
  const said: string[] = [];
  if ((await run(process.execPath, [outfile, "--help"], (line) => said.push(line))) !== 0)
    throw new Error(`${output} does not start:\n${said.join("\n")}`);
  console.log(`dist/${output} ${packageJson.version}, ${Math.round((await stat(outfile)).size / 1024)} KiB`);
}
