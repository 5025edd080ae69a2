/**
 * `npm run keep-build`: keeps manager and agent as they are now in test/upgrade/kept, for tests of later versions against this
 * one. Only our own code is in it; its dependencies are those that are installed when a test runs it.
 */
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { root } from "./run.ts";

const programs = { manager: "manager/main.ts", agent: "worker-agent/main.ts" };

const onlyOurs: Plugin = {
  name: "only-ours",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@jobferry/") ? undefined : { path, external: true },
    );
  },
};

const folder = join(root, "test/upgrade/kept");
await mkdir(folder, { recursive: true });
const { outputFiles } = await build({
  entryPoints: programs,
  absWorkingDir: root,
  outdir: folder,
  write: false,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [onlyOurs],
  logLevel: "warning",
});
for (const { path, contents } of outputFiles) {
  await writeFile(`${path}.gz`, gzipSync(contents, { level: 9 }));
  console.log(`${relative(process.cwd(), `${path}.gz`)} ${Math.round((await stat(`${path}.gz`)).size / 1024)} KiB`);
}
