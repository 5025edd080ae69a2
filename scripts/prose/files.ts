import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.ts";

const FOLDERS = ["docs", "test", "sandbox", "bench", "deploy", "shared", "manager", "worker-agent", "cli"];

const filesBelow = (): string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  ).filter((path) => !path.includes("node_modules"));

/** All pages of the project, by their path from its top. */
export const markdownFiles = (): string[] =>
  [...readdirSync(root), ...filesBelow()].filter((path) => path.endsWith(".md")).sort();

/** Sources and manifests, with the messages in them. */
export const sourceFiles = (): string[] => filesBelow().filter((path) => /\.(ts|yaml)$/.test(path));
