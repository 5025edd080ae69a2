/** The images that every real node has: the one of pause, which the kubelet needs, and `busybox:1` for the tests' pods. */
import { chmod, cp, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeImageArchive } from "../../scripts/images/archive.ts";
import { cached, hashOf } from "../control-plane/cache.ts";
import { findGo } from "../control-plane/go.ts";
import { outputOf, runCommand } from "../harness/run-command.ts";

const here = import.meta.dirname;
export const pauseImage = "localhost/jobferry-pause:1";

/** Their archives, built once: pause from its Go source, busybox from Debian's busybox-static. */
export async function nodeImages(report: (line: string) => void = console.error): Promise<string[]> {
  const busybox = (await outputOf(runCommand("sh", ["-c", "command -v busybox"]))).trim();
  const pause = join(here, "pause");
  const sources = (await readdir(pause)).sort().map((file) => join(pause, file));
  const folder = await cached({
    kind: "node-images",
    version: await hashOf([...sources, busybox, join(here, "../../scripts/images/archive.ts"), import.meta.filename]),
    waiting: (pid) => report(`node images: waiting for process ${pid}, which is making them`),
    async fill(draft) {
      await makePause(draft, report);
      await makeBusybox(draft, busybox);
    },
  });
  return [join(folder, "pause.tar"), join(folder, "busybox.tar")];
}

async function makePause(draft: string, report: (line: string) => void): Promise<void> {
  const root = await emptyRoot(draft);
  const go = await findGo(report);
  const build = ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(root, "pause"), "."];
  await go.run(join(here, "pause"), build, "pause");
  await chmod(join(root, "pause"), 0o755);
  await writeImageArchive({ name: pauseImage, root, entrypoint: ["/pause"], file: join(draft, "pause.tar") });
  await rm(root, { recursive: true });
}

async function makeBusybox(draft: string, program: string): Promise<void> {
  const root = await emptyRoot(draft);
  const folders = { bin: 0o755, etc: 0o755, home: 0o755, root: 0o755, tmp: 0o1777 };
  for (const [folder, mode] of Object.entries(folders)) {
    await mkdir(join(root, folder));
    await chmod(join(root, folder), mode);
  }
  await writeFile(
    join(root, "etc/passwd"),
    "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
  );
  await writeFile(join(root, "etc/group"), "root:x:0:\nnogroup:x:65534:\n");
  await cp(program, join(root, "bin/busybox"));
  await chmod(join(root, "bin/busybox"), 0o755);
  const applets = (await outputOf(runCommand(program, ["--list"]))).trim().split("\n");
  for (const applet of applets) if (applet !== "busybox") await symlink("busybox", join(root, "bin", applet));
  for (const file of ["passwd", "group"]) await chmod(join(root, "etc", file), 0o644);
  await writeImageArchive({ name: "busybox:1", root, file: join(draft, "busybox.tar") });
  await rm(root, { recursive: true });
}

async function emptyRoot(draft: string): Promise<string> {
  const root = join(draft, "root");
  await mkdir(root);
  await chmod(root, 0o755); // whatever our umask: containers of other users look into it
  return root;
}
