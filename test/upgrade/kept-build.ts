import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Build } from "../e2e/dispatch/fleet-programs.ts";

const root = join(import.meta.dirname, "../..");
/** From here a program finds the packages that `shared` uses, which are all that manager and agent need. */
const unpacked = join(root, "shared/node_modules/.kept");

/** The manager and the agent that `npm run keep-build` kept. */
export async function keptBuild(): Promise<Build> {
  await mkdir(unpacked, { recursive: true });
  const [manager, agent] = await Promise.all([unpack("manager"), unpack("agent")]);
  return { manager, agent };
}

async function unpack(program: keyof Build): Promise<string> {
  const path = join(unpacked, `${program}.js`);
  const text = gunzipSync(await readFile(join(import.meta.dirname, `kept/${program}.js.gz`)));
  // In one step: another test may be starting it.
  await writeFile(`${path}.${process.pid}`, text);
  await rename(`${path}.${process.pid}`, path);
  return path;
}
