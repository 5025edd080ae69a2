/** One file per program, with everything in it, for images and releases: in `dist/`, or in the folder that is given. */
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { leanClient } from "./lean-client.ts";
import { root, run } from "./run.ts";
import { packagesOf, sbom } from "./sbom.ts";

const programs = {
  jobferry: "cli/main.ts",
  "jobferry-agent": "worker-agent/main.ts",
  "jobferry-manager": "manager/main.ts",
};

// Some dependencies are CommonJS and call require for Node's own modules. (The #! line comes from the entry file.)
const requireLine = 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);';

// undici's own demand; on an older Node it fails with a TypeError that helps nobody.
const nodeLine = [
  'const [major, minor] = process.versions.node.split(".").map(Number);',
  "if (major < 22 || (major === 22 && minor < 19)) {",
  'console.error("This is Node " + process.versions.node + "; Jobferry needs 22.19 or later (node_modules/node has one)");',
  "process.exit(2);}",
].join("");

/** Texts that cli/up/files.ts reads from the tree; in a bundle they stand in its place. */
const packagedFolders = ["deploy/crds", "deploy/hub", "deploy/worker", "cli/up/demo"];
const packagedFiles: Plugin = {
  name: "packaged-files",
  setup({ onLoad }) {
    onLoad({ filter: /[/]cli[/]up[/]files[.]ts$/ }, async () => {
      const texts: Record<string, string> = {};
      for (const folder of packagedFolders)
        for (const name of await readdir(join(root, folder)))
          if (name.endsWith(".yaml")) texts[`${folder}/${name}`] = await readFile(join(root, folder, name), "utf8");
      return { contents: `const texts = ${JSON.stringify(texts)}; export const packagedFile = (path) => texts[path];` };
    });
  },
};

const folder = resolve(process.argv[2] ?? join(root, "dist"));
if (process.argv[2] === undefined) await rm(folder, { recursive: true, force: true });
const { metafile } = await build({
  // All at once: what they share is read once.
  entryPoints: programs,
  absWorkingDir: root,
  outdir: folder,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  sourcemap: true,
  sourcesContent: false,
  // Names stay, for stack traces that can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  banner: { js: `${requireLine}{${nodeLine}}` },
  plugins: [packagedFiles, leanClient],
  logLevel: "warning",
  metafile: true,
});
const list = await sbom(packagesOf(Object.keys(metafile.inputs)));
await writeFile(join(folder, "sbom.cdx.json"), `${JSON.stringify(list, null, 1)}\n`);
for (const program of Object.keys(programs)) {
  const outfile = join(folder, `${program}.js`);
  await chmod(outfile, 0o755);
  for (const flag of ["--help", "--version"]) {
    const said: string[] = [];
    if ((await run(process.execPath, [outfile, flag], (line) => said.push(line))) !== 0)
      throw new Error(`${program} ${flag} does not start:\n${said.join("\n")}`);
  }
  console.log(
    `${relative(process.cwd(), outfile)} ${packageJson.version}, ${Math.round((await stat(outfile)).size / 1024)} KiB`,
  );
}
