/** The cgroups of a node: one per hierarchy of the machine, all of one name, which are the root of its cgroup namespace. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

/** Followed by the pid of the process that made them. */
const prefix = "jobferry-node-";

export interface Hierarchy {
  readonly path: string;
  /** As its mount option says, such as `memory` or `cpu,cpuacct`; undefined for version 2. */
  readonly controllers: string | undefined;
}

/** Those of version 1 where there are any, else the one of version 2. */
export async function hierarchies(): Promise<Hierarchy[]> {
  const known = new Set((await readFile("/proc/cgroups", "utf8")).split("\n").map((line) => line.split("\t")[0]));
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" "));
  const first = mounts
    .filter(([, , type]) => type === "cgroup")
    .map(([, path = "", , options = ""]) => {
      const named = options.split(",").filter((option) => known.has(option) || option.startsWith("name="));
      return { path, controllers: named.join(",") };
    });
  if (first.length > 0) return first;
  const second = mounts.find(([, , type]) => type === "cgroup2")?.[1];
  return second === undefined ? [] : [{ path: second, controllers: undefined }];
}

/** Makes the groups and resolves to their folders. */
export async function makeCgroups(all: readonly Hierarchy[], serial: number): Promise<string[]> {
  return Promise.all(all.map((hierarchy) => makeCgroup(hierarchy, `${prefix}${process.pid}-${serial}`)));
}

async function makeCgroup({ path, controllers }: Hierarchy, name: string): Promise<string> {
  const group = join(path, name);
  await mkdir(group);
  if (controllers === undefined) {
    const offered = (await readFile(join(path, "cgroup.controllers"), "utf8")).trim().split(" ");
    await writeFile(join(path, "cgroup.subtree_control"), offered.map((controller) => `+${controller}`).join(" "));
  } else if (controllers.split(",").includes("cpuset")) {
    // Not inherited, and no process can enter a group without them.
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      await writeFile(join(group, file), await readFile(join(path, file)));
  }
  return group;
}

/** Freezes every process of the node, containers too, or lets them go on. */
export async function setFrozen(groups: readonly string[], frozen: boolean): Promise<void> {
  for (const group of groups) {
    const [first, second] = [join(group, "freezer.state"), join(group, "cgroup.freeze")];
    if (existsSync(first)) await writeFile(first, frozen ? "FROZEN" : "THAWED");
    else if (existsSync(second)) await writeFile(second, frozen ? "1" : "0");
  }
}

/** Removes empty groups of processes that are no more: where even those died that clear up after them. */
export async function sweepCgroups(all: readonly Hierarchy[]): Promise<void> {
  for (const { path } of all)
    for (const name of await readdir(path)) {
      const owner = name.startsWith(prefix) ? name.slice(prefix.length).split("-")[0] : undefined;
      if (owner !== undefined && !existsSync(`/proc/${owner}`)) await removeEmpty(join(path, name));
    }
}

/** The folders of all groups that this process has made and that are still there, the newest node's last. */
export async function cgroupsOf(pid: number): Promise<string[]> {
  const found = (await hierarchies()).map(async ({ path }) => {
    const names = (await readdir(path)).filter((name) => name.startsWith(`${prefix}${pid}-`));
    return names.map((name) => join(path, name));
  });
  const serialOf = (path: string): number => Number(path.split("-").at(-1));
  return (await Promise.all(found)).flat().sort((a, b) => serialOf(a) - serialOf(b));
}

/** The pids of all processes in these groups and in those below them. */
export async function processesIn(groups: readonly string[]): Promise<string[]> {
  const pids = groups.map(async (group) => {
    const entries = await readdir(group, { recursive: true }).catch(() => []);
    const lists = entries.filter((entry) => basename(entry) === "cgroup.procs");
    return Promise.all(lists.map((list) => readFile(join(group, list), "utf8").catch(() => "")));
  });
  return [...new Set((await Promise.all(pids)).flat().join("").split("\n").filter(Boolean))];
}

async function removeEmpty(group: string): Promise<void> {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(group, entry.name));
  await rmdir(group).catch(() => {});
}
