/** Container images as archives that `ctr images import`, docker and buildah load: made from a folder, without an engine. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outputOf, runCommand } from "../../test/harness/run-command.ts";

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface ImageArchive {
  /** Name and tag, such as `busybox:1`. */
  readonly name: string;
  /** The folder that becomes the image's one layer. */
  readonly root: string;
  readonly entrypoint?: readonly string[];
  /** The archive. */
  readonly file: string;
}

export async function writeImageArchive({ name, root, entrypoint, file }: ImageArchive): Promise<void> {
  const work = `${file}.parts`;
  await mkdir(work, { recursive: true });
  // The same folder gives the same image.
  const plain = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const tar = (...args: string[]) => outputOf(runCommand("tar", [...plain, ...args]));
  await tar("-C", root, "-cf", join(work, "layer.tar"), ".");
  const layer = sha256(await readFile(join(work, "layer.tar")));
  const config = JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: "linux",
    created: new Date(0).toISOString(),
    config: { Env: [`PATH=${path}`], WorkingDir: "/", ...(entrypoint === undefined ? {} : { Entrypoint: entrypoint }) },
    rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
  });
  const configFile = `${sha256(config)}.json`;
  const manifest = [{ Config: configFile, RepoTags: [name], Layers: ["layer.tar"] }];
  await writeFile(join(work, configFile), config);
  await writeFile(join(work, "manifest.json"), JSON.stringify(manifest));
  await tar("-C", work, "-cf", file, "manifest.json", configFile, "layer.tar");
  await rm(work, { recursive: true });
}

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");
