/** What the API server and the kernel have counted: read before and after a work, the difference is its cost. */
import { readFile } from "node:fs/promises";
import type { TestCluster } from "@jobferry/test/harness/test-cluster.ts";
import type { Writes } from "./figures.ts";

/** Linux gives processes' times in ticks of this length, whatever its own timer does. */
const TICKS_PER_SECOND = 100;

/** User and system time that a process has used so far. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in parentheses and may hold spaces; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The writes that only a Job controller makes here: binding and pod status are the stand-in kubelet's, Jobs are created by us. */
const CONTROLLER_WRITES: Readonly<Record<string, string>> = {
  "POST pods": "pods create",
  "PATCH pods": "pods patch",
  "PUT pods": "pods update",
  "DELETE pods": "pods delete",
  "PUT jobs/status": "jobs/status",
  "PATCH jobs/status": "jobs/status",
  "PUT jobs": "jobs update",
  "PATCH jobs": "jobs patch",
  "POST events": "events",
  "PUT events": "events",
  "PATCH events": "events",
};

export async function controllerWrites(cluster: TestCluster): Promise<Writes> {
  const { status, text } = await cluster.request("/metrics");
  if (status !== 200) throw new Error(`the API server's metrics cannot be read: ${status}`);
  const counts: Record<string, number> = {};
  for (const line of text.split("\n")) {
    const sample = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line);
    if (sample === null) continue;
    const [, labels = "", value] = sample;
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const subresource = label("subresource") && `/${label("subresource")}`;
    const kind = CONTROLLER_WRITES[`${label("verb")} ${label("resource")}${subresource}`];
    if (kind !== undefined && label("dry_run") === "") counts[kind] = (counts[kind] ?? 0) + Number(value);
  }
  return counts;
}

/** Kinds of writes that did not happen are left out. */
export function writesSince(before: Writes, after: Writes): Writes {
  const differences = Object.entries(after).map(([kind, count]): [string, number] => [
    kind,
    count - (before[kind] ?? 0),
  ]);
  return Object.fromEntries(differences.filter(([, count]) => count > 0));
}
