/** A clone of the project as the pages assume it, in a folder of its own: what their commands write stays there. */
import { constants } from "node:fs";
import { access, cp, mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { guardedDirectory } from "../harness/guarded-process.ts";
import { controlPlaneAssets } from "../harness/real-cluster-options.ts";
import { root } from "./page.ts";

export interface Clone {
  /** Where a reader stands. */
  readonly path: string;
  /** For what is not part of a clone. */
  readonly state: string;
  /** Without what the tester's own shell says about clusters and Redis. */
  readonly env: Record<string, string | undefined>;
  remove(): Promise<void>;
}

export async function makeClone(): Promise<Clone> {
  const directory = guardedDirectory("docs");
  const path = join(directory.path, "clone");
  const state = join(directory.path, "state");
  const bin = join(directory.path, "bin");
  for (const folder of [path, state, bin]) await mkdir(folder);
  for (const folder of ["deploy", "cli/up/demo"]) await cp(join(root, folder), join(path, folder), { recursive: true });
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  await symlink(join(await controlPlaneAssets(), "kubectl"), join(bin, "kubectl"));
  for (const program of ["server", "cli"])
    await symlink(await found(`redis-${program}`, `valkey-${program}`), join(bin, `redis-${program}`));
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    HOME: state,
    KUBECONFIG: undefined,
    KUBECACHEDIR: join(state, "kube-cache"),
    REDIS_URL: undefined,
  };
  return { path, state, env, remove: () => directory.remove() };
}

async function found(...names: string[]): Promise<string> {
  for (const name of names)
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(folder, name);
      if (
        await access(path, constants.X_OK).then(
          () => folder !== "",
          () => false,
        )
      )
        return path;
    }
  throw new Error(`${names.join(" or ")} is missing: docs/install.md names it as a prerequisite`);
}

/**
 * A port for a server that is started once and much later. Below those that the kernel hands out by itself, so that no other
 * test gets it in between.
 */
export async function quietPort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + ((process.pid + attempt * 97) % 10_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error("no port between 20000 and 30000 is free");
}
