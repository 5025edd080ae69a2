/** The two programs that build images from a Containerfile. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dockerVersion } from "../../test/harness/docker.ts";
import { outputOf, runCommand } from "../../test/harness/run-command.ts";

const limitMs = 600_000;

interface Build {
  readonly context: string;
  readonly containerfile: string;
  readonly target: string;
  readonly name: string;
  /** The image that the build begins with. */
  readonly base: string;
}

export interface Engine {
  readonly name: string;
  /** Loads an archive; resolves to what a build calls its image. */
  load(archive: string, name: string): Promise<string>;
  build(build: Build): Promise<void>;
  save(name: string, archive: string): Promise<void>;
}

export class EngineMissingError extends Error {
  override name = "EngineMissingError";
}

/** The one that was asked for, else Docker where its engine answers, else buildah. `keeps`: its images stay there afterwards. */
export async function findEngine(wanted: string | undefined, work: string, keeps: boolean): Promise<Engine> {
  const hasDocker = (await dockerVersion()) !== undefined;
  const hasBuildah = (await runCommand("buildah", ["--version"]).catch(() => undefined))?.code === 0;
  switch (wanted ?? (hasDocker ? "docker" : "buildah")) {
    case "docker":
      if (hasDocker) return docker;
      throw new EngineMissingError('Docker does not answer ("docker info"): start it, or use --engine buildah.');
    case "buildah":
      if (hasBuildah) return buildah(keeps ? process.env : await privateStore(work));
      throw new EngineMissingError(
        "no Docker answers, and buildah is missing: install it (Debian: apt-get install buildah).",
      );
    default:
      throw new EngineMissingError(`--engine is "${wanted}": use docker or buildah.`);
  }
}

const buildArgs = ({ context, containerfile, target, name, base }: Build): string[] => [
  ...["build", "--quiet", "--file", containerfile, "--target", target, "--build-arg", `BASE=${base}`],
  ...["--tag", name, context],
];

const docker: Engine = {
  name: "docker",
  async load(archive, name) {
    await outputOf(runCommand("docker", ["load", "--quiet", "--input", archive], { timeoutMs: limitMs }));
    return name;
  },
  async build(build) {
    await outputOf(runCommand("docker", buildArgs(build), { timeoutMs: limitMs }));
  },
  async save(name, archive) {
    await outputOf(runCommand("docker", ["save", "--output", archive, name], { timeoutMs: limitMs }));
  },
};

const buildah = (env: NodeJS.ProcessEnv): Engine => {
  const run = (...args: string[]) => outputOf(runCommand("buildah", args, { env, timeoutMs: limitMs }));
  return {
    name: "buildah",
    load: async (archive) => (await run("pull", "--quiet", `docker-archive:${archive}`)).trim(),
    async build(build) {
      await run(...buildArgs(build));
    },
    async save(name, archive) {
      await run("push", "--quiet", name, `docker-archive:${archive}:${name}`);
    },
  };
};

/** A store of its own, in a folder that goes away: for archives, nothing else stays. */
async function privateStore(work: string): Promise<NodeJS.ProcessEnv> {
  const [runroot, graphroot, file] = ["run", "store", "storage.conf"].map((name) => join(work, name));
  await Promise.all([runroot, graphroot].map((folder) => mkdir(folder as string, { recursive: true })));
  await writeFile(file as string, `[storage]\ndriver = "vfs"\nrunroot = "${runroot}"\ngraphroot = "${graphroot}"\n`);
  return { ...process.env, CONTAINERS_STORAGE_CONF: file, BUILDAH_ISOLATION: "chroot" };
}
