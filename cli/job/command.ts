/** `jobferry explain JOB`. */
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { events } from "@jobferry/shared/kube/resources.ts";
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { askHub } from "../hub/ask.ts";
import { classValues, isWaiting, priorityIn, queueOf, waitingJobs } from "../hub/waiting.ts";
import { type Explanation, explainJob, type HubFacts } from "./explain.ts";
import { explainConfig } from "./flags.ts";
import { readJob } from "./read.ts";
import { referenceLine } from "./references.ts";

const SHOWN_WARNINGS = 5;

export async function runExplain(name: string, given: GivenConfig, print: (line: string) => void): Promise<void> {
  const config = loadConfig(explainConfig, given);
  const explanation = await askHub(config, given.env, async (api, namespace) => {
    const job = await readJob(api, config.namespace ?? namespace, name);
    return explainJob(job, await factsOf(api, job));
  });
  print(config.output === "json" ? JSON.stringify(explanation, null, 2) : textOf(explanation));
}

async function factsOf(api: KubeApi, job: Job): Promise<HubFacts> {
  const [queue, clusters, waiting, warnings, classes] = await Promise.all([
    allowed(api.get(jobQueues, { name: queueOf(job) })),
    allowed(api.list(workerClusters)),
    isWaiting(job) ? allowed(waitingJobs(api)) : undefined,
    warningsOf(api, job),
    classValues(api),
  ]);
  return { queue, clusters: clusters?.items, waiting, warnings, priority: priorityIn(job, classes) };
}

/** A submitter may have no right to the rest of the hub; the Job's own story is told all the same. */
async function allowed<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

async function warningsOf(api: KubeApi, { metadata }: Job): Promise<HubFacts["warnings"]> {
  const fieldSelector = `involvedObject.uid=${metadata.uid},type=Warning`;
  const found = await allowed(api.list(events, { namespace: metadata.namespace ?? "", fieldSelector }));
  return (found?.items ?? [])
    .toSorted((one, other) => ((one.lastTimestamp ?? "") < (other.lastTimestamp ?? "") ? 1 : -1))
    .slice(0, SHOWN_WARNINGS)
    .map(({ reason = "", message = "", count = 1 }) => ({ reason, message, times: count }));
}

function textOf(explanation: Explanation): string {
  const {
    job,
    phase,
    cluster,
    epoch,
    message,
    queue,
    priority,
    share,
    usage = {},
    position,
    clusters,
    references = [],
    warnings,
    advice,
  } = explanation;
  const where = cluster === undefined ? "" : ` on ${cluster}${epoch === undefined ? "" : ` (epoch ${epoch})`}`;
  const inQueue = position === undefined ? "" : `, place ${position.place} of ${position.of}`;
  const lines = [`Job ${job}: ${phase}${where}`];
  if (phase !== "not dispatched")
    lines.push(`queue ${queue}${inQueue}${priority === undefined ? "" : `, priority ${priority}`}`);
  if (share !== undefined) {
    const held = Object.entries(usage).map(([resource, amount]) => `${resource} ${amount}`);
    lines.push(`its queue holds ${held.length === 0 ? "nothing" : held.join(", ")} (share ${share})`);
  }
  if (message !== undefined) lines.push(message);
  const section = (title: string, of: readonly string[]): void => {
    if (of.length > 0) lines.push("", title, ...of.map((line) => `  ${line}`));
  };
  section(
    "Clusters",
    clusters.map(({ name, obstacle }) => `${name}: ${obstacle ?? "takes Jobs; whether this one fits is said above"}`),
  );
  section(
    "Warnings",
    warnings.map(({ reason, message: text, times }) => `${reason}: ${text}${times > 1 ? ` (${times} times)` : ""}`),
  );
  section("Its pods refer to", references.map(referenceLine));
  section("What would have to change", advice);
  return lines.join("\n");
}
