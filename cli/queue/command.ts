/** `jobferry queue list/pause/resume`. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { askHub } from "../hub/ask.ts";
import { table } from "../hub/table.ts";
import { type WaitingJob, waitingJobs } from "../hub/waiting.ts";
import { type QueueVerb, queueFlags } from "./flags.ts";

interface QueueRow {
  readonly name: string;
  readonly paused: boolean;
  readonly weight: number;
  readonly running: number;
  readonly pending: number;
  readonly share?: string;
  /** What its Jobs hold. */
  readonly usage: Readonly<Record<string, string>>;
  /** Of those that wait, by the kind of reason, as the manager counts them. */
  readonly waiting: Readonly<Record<string, number>>;
  /** Of its budget, in quantities times hours. */
  readonly spent?: Readonly<Record<string, string>>;
  /** Of those that wait: how many are told the same, the most frequent first. */
  readonly reasons: readonly { readonly jobs: number; readonly reason: string }[];
}

export async function runQueue(
  verb: QueueVerb,
  name: string | undefined,
  given: GivenConfig,
  print: (line: string) => void,
): Promise<void> {
  const config = loadConfig(queueFlags[verb], given);
  const rows = await askHub(config, given.env, async (api) => {
    if (verb === "list") return await listQueues(api);
    return [await setPaused(api, name ?? "", verb === "pause")];
  });
  print(config.output === "json" ? JSON.stringify(rows, null, 2) : textOf(rows));
}

async function listQueues(api: KubeApi): Promise<QueueRow[]> {
  const { items } = await api.list(jobQueues);
  // Who may not read the Jobs of all namespaces sees the counts, and no reasons.
  const waiting = await waitingJobs(api).catch((error: unknown) => {
    if (isForbidden(error)) return [];
    throw error;
  });
  const named = items.some(({ metadata }) => metadata.name === DEFAULT_QUEUE);
  const all = named ? items : [{ metadata: { name: DEFAULT_QUEUE } } as JobQueue, ...items];
  return all.map((queue) => rowOf(queue, waiting)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function rowOf({ metadata, spec = {}, status }: JobQueue, waiting: readonly WaitingJob[]): QueueRow {
  const name = metadata.name ?? "";
  const own = waiting.filter(({ queue }) => queue === name);
  const counts = new Map<string, number>();
  for (const { message } of own) counts.set(message, (counts.get(message) ?? 0) + 1);
  return {
    name,
    paused: spec.paused ?? false,
    weight: spec.weight ?? 1,
    running: status?.running ?? 0,
    pending: Math.max(own.length, status?.pending ?? 0),
    ...(status?.share === undefined ? {} : { share: status.share }),
    usage: status?.usage ?? {},
    waiting: status?.waiting ?? {},
    ...(status?.budget === undefined ? {} : { spent: status.budget.spent }),
    reasons: [...counts].map(([reason, jobs]) => ({ jobs, reason })).sort((one, other) => other.jobs - one.jobs),
  };
}

async function setPaused(api: KubeApi, name: string, paused: boolean): Promise<QueueRow> {
  try {
    return rowOf(await api.patch(jobQueues, { name }, { type: "merge", body: { spec: { paused } } }), []);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ConfigError(`there is no JobQueue ${name}; jobferry queue list shows those there are`, { cause: error });
  }
}

const MOST_REASONS = 5;

function textOf(rows: readonly QueueRow[]): string {
  const heads = ["NAME", "PAUSED", "WEIGHT", "RUNNING", "WAITING", "SHARE", "USAGE", "WAITING FOR"];
  const list = (of: Readonly<Record<string, unknown>>): string =>
    Object.entries(of)
      .map(([name, value]) => `${name}=${value}`)
      .join(",") || "-";
  const cells = rows.map(({ name, paused, weight, running, pending, share = "-", usage, waiting }) =>
    [name, paused, weight, running, pending, share, list(usage), list(waiting)].map(String),
  );
  const reasons = rows.flatMap(({ name, reasons: own }) => [
    ...own
      .slice(0, MOST_REASONS)
      .map(({ jobs, reason }) => `${name}: ${jobs} ${jobs === 1 ? "Job" : "Jobs"}: ${reason}`),
    ...(own.length > MOST_REASONS
      ? [`${name}: and ${own.length - MOST_REASONS} more reasons; --output json has all`]
      : []),
  ]);
  return [table(heads, cells), ...(reasons.length === 0 ? [] : ["", "Why they wait:", ...reasons])].join("\n");
}
