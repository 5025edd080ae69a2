import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Tests start our programs a hundred times; with what Node has compiled before, that takes half as long. */
export const compileCache = { NODE_COMPILE_CACHE: join(root, "node_modules/.cache/jobferry-node") };

/** Those that tests kill: a killed process leaves nothing compiled behind. */
export const killedPrograms = ["manager/main.ts", "worker-agent/main.ts"].map((file) => join(root, file));
