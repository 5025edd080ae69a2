import { rm, writeFile } from "node:fs/promises";
import { runCommand } from "./run-command.ts";

const policyFile = "/usr/sbin/policy-rc.d";
const limitMs = 300_000;

/** Installs Debian's redis-server if we are root on a Debian; resolves to whether it is there now. */
export async function installRedis(report: (line: string) => void): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const present = await runCommand("apt-get", ["--version"]).catch(() => undefined);
  if (present?.code !== 0) return false;
  report("Redis: installing Debian's redis-server (apt-get, as root)");
  return withoutStartingServices(async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const options = { env, timeoutMs: limitMs };
    const install = ["install", "-y", "-qq", "--no-install-recommends", "redis-server"];
    let result = await runCommand("apt-get", install, options);
    if (result.code !== 0) {
      await runCommand("apt-get", ["update", "-qq"], options);
      result = await runCommand("apt-get", install, options);
    }
    if (result.code !== 0) report(`Redis: apt-get failed: ${result.stderr.trim().split("\n").at(-1)}`);
    return result.code === 0;
  });
}

/** Debian starts a service as it is installed unless this script says no; a script of the machine's owner stays. */
async function withoutStartingServices<T>(work: () => Promise<T>): Promise<T> {
  const mine = await writeFile(policyFile, "#!/bin/sh\nexit 101\n", { flag: "wx", mode: 0o755 }).then(
    () => true,
    () => false,
  );
  try {
    return await work();
  } finally {
    if (mine) await rm(policyFile, { force: true });
  }
}
