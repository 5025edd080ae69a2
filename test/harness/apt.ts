import { rm, writeFile } from "node:fs/promises";
import { runCommand } from "./run-command.ts";

const policyFile = "/usr/sbin/policy-rc.d";
const limitMs = 300_000;

/** Installs packages of Debian if we are root on a Debian; resolves to whether they are there now. `what` begins its lines. */
export async function installPackages(
  what: string,
  packages: readonly string[],
  report: (line: string) => void,
): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const present = await runCommand("apt-get", ["--version"]).catch(() => undefined);
  if (present?.code !== 0) return false;
  report(`${what}: installing Debian's ${packages.join(", ")} (apt-get, as root)`);
  return withoutStartingServices(async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const options = { env, timeoutMs: limitMs };
    // Another apt-get may hold its lock.
    const install = ["install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", ...packages];
    let result = await runCommand("apt-get", install, options);
    if (result.code !== 0) {
      await runCommand("apt-get", ["update", "-qq"], options);
      result = await runCommand("apt-get", install, options);
    }
    if (result.code !== 0) report(`${what}: apt-get failed: ${result.stderr.trim().split("\n").at(-1)}`);
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
