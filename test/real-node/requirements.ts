/** Whether real nodes can run on this machine, and what they lack if not. */
import { existsSync } from "node:fs";
import { readFile, realpath, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPackages } from "../harness/apt.ts";
import { controlPlaneAssets } from "../harness/real-cluster-options.ts";
import { runCommand } from "../harness/run-command.ts";
import { hierarchies } from "./cgroups.ts";

/** Debian's packages, and the programs of theirs that a node calls. */
const packages = {
  containerd: ["containerd", "ctr", "containerd-shim-runc-v2"],
  runc: ["runc"],
  "containernetworking-plugins": ["/usr/lib/cni/bridge", "/usr/lib/cni/host-local"],
  iproute2: ["ip"],
  iptables: ["iptables"], // of kubelet
  nftables: ["nft"],
  "busybox-static": ["busybox"],
};

/** The node has its own versions of these: what it needs from outside must not be in them. */
const ownFolders = ["/run/", "/sys/", "/proc/", "/var/lib/", "/var/log/"];
const overlayFs = 0x794c7630;

let answer: Promise<string | undefined> | undefined;

/**
 * What is missing for real nodes, as a reason for `skip`; undefined if nothing is. Where we are root on a Debian, its packages
 * are installed first.
 */
export function realNodesMissing(report: (line: string) => void = console.error): Promise<string | undefined> {
  answer ??= findMissing(report);
  return answer;
}

async function findMissing(report: (line: string) => void): Promise<string | undefined> {
  if (process.platform !== "linux") return "real nodes need Linux";
  if (process.getuid?.() !== 0) return "real nodes need root";
  const assets = await controlPlaneAssets();
  if (process.env.JOBFERRY_TEST_CLUSTER === "k3s") return "real nodes need a control plane of local processes, not K3s";
  if (!existsSync(join(assets, "kubelet"))) return `real nodes need kubelet: ${assets} has none`;
  return (await missingOfKernel()) ?? (await missingFolder(assets)) ?? missingPackages(report);
}

async function missingOfKernel(): Promise<string | undefined> {
  const all = await hierarchies();
  if (all.length === 0) return "real nodes need cgroups";
  if (all.some(({ controllers }) => controllers === undefined) && !process.env.JOBFERRY_REAL_NODES)
    return "real nodes were never tried with cgroups of version 2 alone: JOBFERRY_REAL_NODES=1 tries";
  const unshare = [
    "--fork",
    "--pid",
    "--mount",
    "--net",
    "--uts",
    "--ipc",
    "--cgroup",
    "mount",
    "-t",
    "tmpfs",
    "x",
    "/run",
  ];
  const entered = await runCommand("unshare", unshare).catch((error: Error) => ({ code: 1, stderr: error.message }));
  if (entered.code !== 0) return `real nodes need namespaces of their own: ${entered.stderr.trim()}`;
  if (!(await readFile("/proc/filesystems", "utf8")).includes("\toverlay\n")) return "real nodes need overlayfs";
  return undefined;
}

async function missingFolder(assets: string): Promise<string | undefined> {
  const state = await realpath(tmpdir());
  for (const folder of [state, await realpath(assets), import.meta.dirname])
    if (ownFolders.some((own) => `${folder}/`.startsWith(own))) return `real nodes do not see ${folder}`;
  if ((await statfs(state)).type === overlayFs) return `real nodes need a TMPDIR that is not on overlayfs: ${state} is`;
  return undefined;
}

async function missingPackages(report: (line: string) => void): Promise<string | undefined> {
  const lacking = async (): Promise<string[]> => {
    const found = await Promise.all(
      Object.entries(packages).map(async ([name, programs]) => {
        const present = await Promise.all(programs.map((program) => runCommand("sh", ["-c", `command -v ${program}`])));
        return present.every(({ code }) => code === 0) ? [] : [name];
      }),
    );
    return found.flat();
  };
  const before = await lacking();
  if (before.length === 0) return undefined;
  await installPackages("real nodes", before, report);
  const after = await lacking();
  return after.length === 0 ? undefined : `real nodes need Debian's ${after.join(", ")}`;
}
