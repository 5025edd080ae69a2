/** One file per program, with everything in it, for images and releases. */
import { existsSync } from "node:fs";
import { chmod, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { root, run } from "./run.ts";

const programs = {
  "jobferry.js": "cli/main.ts",
  "jobferry-agent.js": "worker-agent/main.ts",
  "jobferry-manager.js": "manager/main.ts",
};

// Some dependencies are CommonJS and call require for Node's own modules. (The #! line comes from the entry file.)
const banner = 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);';

/** Texts that cli/up-files.ts reads from the tree; in a bundle they stand in its place. */
const packagedFolders = ["deploy/crds", "cli/demo"];
const packagedFiles: Plugin = {
  name: "packaged-files",
  setup({ onLoad }) {
    onLoad({ filter: /[/]cli[/]up-files[.]ts$/ }, async () => {
      const texts: Record<string, string> = {};
      for (const folder of packagedFolders)
        for (const name of await readdir(join(root, folder)))
          if (name.endsWith(".yaml")) texts[`${folder}/${name}`] = await readFile(join(root, folder, name), "utf8");
      return { contents: `const texts = ${JSON.stringify(texts)}; export const packagedFile = (path) => texts[path];` };
    });
  },
};

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
    plugins: [packagedFiles],
    logLevel: "warning",
  });
  await chmod(outfile, 0o755);
  const said: string[] = [];
  if ((await run(process.execPath, [outfile, "--help"], (line) => said.push(line))) !== 0)
    throw new Error(`${output} does not start:\n${said.join("\n")}`);
  console.log(`dist/${output} ${packageJson.version}, ${Math.round((await stat(outfile)).size / 1024)} KiB`);
}
