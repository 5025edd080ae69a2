/** A base for images where none can be pulled: the Node that came with the npm packages, and what it needs of this machine. */
import { chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { outputOf, runCommand } from "../../test/harness/run-command.ts";
import { writeImageArchive } from "./archive.ts";

const certificates = "/etc/ssl/certs/ca-certificates.crt"; // for rediss:// with a public authority

/** Writes the archive `file` of an image `name`. */
export async function writeNodeBase(name: string, file: string): Promise<void> {
  const root = `${file}.root`;
  const linked = await outputOf(runCommand("ldd", [process.execPath]));
  const libraries = [...linked.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
  for (const folder of ["etc", "tmp", "usr/local/bin"]) await mkdir(join(root, folder), { recursive: true });
  await cp(process.execPath, join(root, "usr/local/bin/node"), { dereference: true });
  for (const path of [...libraries, certificates]) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await cp(path, join(root, path), { dereference: true }).catch((error: NodeJS.ErrnoException) => {
      if (path !== certificates || error.code !== "ENOENT") throw error;
    });
  }
  await writeFile(
    join(root, "etc/passwd"),
    "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n",
  );
  await writeFile(join(root, "etc/group"), "root:x:0:\nnonroot:x:65532:\n");
  // Whatever our umask: other users than root run it.
  await outputOf(runCommand("chmod", ["-R", "u=rwX,go=rX", root]));
  await chmod(join(root, "tmp"), 0o1777);
  await writeImageArchive({ name, root, file });
  await rm(root, { recursive: true });
}
