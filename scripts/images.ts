/** `npm run images`: the images of manager and agent, by deploy/Containerfile, with Docker or buildah. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import packageJson from "../package.json" with { type: "json" };
import { writeNodeBase } from "./images/base.ts";
import { EngineMissingError, findEngine } from "./images/engine.ts";
import { root, run, seconds } from "./run.ts";

const usage = `npm run images -- [FLAGS]
  --base IMAGE      what the images begin with, such as node:24-slim (default: made from this machine's Node 24 and libraries)
  --prefix NAME     before manager and agent (default: jobferry/)
  --tag TAG         (default: ${packageJson.version})
  --output FOLDER   writes the archives manager.tar and agent.tar there, and leaves nothing in the engine
  --engine NAME     docker or buildah (default: the first that is there)`;
const ownBase = "localhost/jobferry-base:node24";

const { values: flags } = parseArgs({
  options: {
    base: { type: "string" },
    prefix: { type: "string", default: "jobferry/" },
    tag: { type: "string", default: packageJson.version },
    output: { type: "string" },
    engine: { type: "string" },
    help: { type: "boolean" },
  },
});

async function main(): Promise<void> {
  const started = performance.now();
  const work = await mkdtemp(join(tmpdir(), "jobferry-images-"));
  try {
    const output = flags.output === undefined ? undefined : resolve(flags.output);
    const engine = await findEngine(flags.engine, work, output === undefined);
    const context = join(work, "context");
    const said: string[] = [];
    const bundle = [join(root, "scripts/build.ts"), join(context, "dist")];
    if ((await run(process.execPath, bundle, (line) => said.push(line))) !== 0) throw new Error(said.join("\n"));
    const base = flags.base ?? (await engine.load(await madeBase(work), ownBase));
    for (const target of ["manager", "agent"]) {
      const name = `${flags.prefix}${target}:${flags.tag}`;
      await engine.build({ context, containerfile: join(root, "deploy/Containerfile"), target, name, base });
      if (output !== undefined) {
        const archive = join(output, `${target}.tar`);
        await mkdir(output, { recursive: true });
        await rm(archive, { force: true });
        await engine.save(name, archive);
      }
      console.log(`${name} ${output === undefined ? `in ${engine.name}` : `in ${join(output, `${target}.tar`)}`}`);
    }
    console.log(`took ${seconds(started)}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function madeBase(work: string): Promise<string> {
  const archive = join(work, "base.tar");
  await writeNodeBase(ownBase, archive);
  return archive;
}

try {
  if (flags.help === true) console.log(usage);
  else await main();
} catch (error) {
  if (!(error instanceof EngineMissingError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
