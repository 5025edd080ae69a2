/** The list of contents of what is shipped (CycloneDX): the lockfile knows versions and hashes, the bundler what went in. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../package.json" with { type: "json" };
import { root } from "./run.ts";

interface Sbom {
  serialNumber?: string;
  metadata: { timestamp?: string; component?: { name?: string } };
  components: { "bom-ref": string; name: string; version: string; hashes?: object[] }[];
  dependencies?: unknown;
}

interface Lockfile {
  readonly packages: Record<string, { version?: string }>;
}

/** The folders of the packages to which these files belong: `node_modules/NAME`, or one further down. */
export function packagesOf(files: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    if (folder !== undefined) found.add(folder);
  }
  return found;
}

/** Of these packages. The same lockfile gives the same list. */
export async function sbom(packages: ReadonlySet<string>): Promise<Sbom> {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: root, maxBuffer: 2 ** 27 });
  const { serialNumber: _, dependencies: __, ...list } = JSON.parse(stdout) as Sbom;
  delete list.metadata.timestamp;
  // npm names it after the folder of the clone.
  if (list.metadata.component !== undefined) list.metadata.component.name = packageJson.name;
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lockfile;
  const wanted = new Set([...packages].map((folder) => `${nameOf(folder)}@${lock.packages[folder]?.version}`));
  return { ...list, components: list.components.filter((each) => wanted.has(each["bom-ref"])) };
}

const nameOf = (folder: string): string => folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
