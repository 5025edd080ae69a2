/** `etcd-snapshot` from source, apart from the control plane: it takes a minute, and is built where a test asks for it. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { cached, hashOf } from "../control-plane/cache.ts";
import { findGo } from "../control-plane/go.ts";

const here = import.meta.dirname;

/** The path of the program. */
export async function buildEtcdSnapshot(): Promise<string> {
  const report = (line: string): void => console.error(line);
  const files = (await readdir(here)).filter((name) => !name.endsWith(".ts")).sort();
  const directory = await cached({
    kind: "etcd-snapshot",
    version: await hashOf(files.map((name) => join(here, name))),
    waiting: (pid) => report(`etcd-snapshot: waiting for process ${pid}, which is building it`),
    async fill(draft) {
      const go = await findGo(report);
      await go.run(here, ["build", "-v", "-trimpath", "-o", join(draft, "etcd-snapshot"), "."], "etcd-snapshot");
    },
  });
  return join(directory, "etcd-snapshot");
}
