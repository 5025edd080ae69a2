import { readWishes } from "@jobferry/manager/hub/wishes.ts";
import type { JobQueue, WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER, EPOCH, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { isDispatched, isWaiting, queueOf, type WaitingJob } from "../hub/waiting.ts";
import { type ReferenceWord, referenceWords } from "./references.ts";

/** What the hub shows about a Job's way; everything beside the Job may be out of the reader's reach. */
export interface HubFacts {
  readonly queue: JobQueue | undefined;
  readonly clusters: readonly WorkerCluster[] | undefined;
  readonly waiting: readonly WaitingJob[] | undefined;
  readonly priority: number;
  readonly warnings: readonly { readonly reason: string; readonly message: string; readonly times: number }[];
}

type PhaseName = "not dispatched" | "suspended" | "waiting" | "assigned" | "deleting" | "finished";

export interface Explanation {
  readonly job: string;
  readonly phase: PhaseName;
  readonly cluster?: string;
  readonly epoch?: number;
  /** The manager's own words, as they stand on the Job. */
  readonly message?: string;
  readonly queue: string;
  readonly priority?: number;
  /** What the queue's Jobs hold, and how much of its part that is: of queues that compete, the smallest goes first. */
  readonly share?: number;
  readonly usage?: Readonly<Record<string, string>>;
  /** Among those that wait in its queue. */
  readonly position?: { readonly place: number; readonly of: number };
  readonly clusters: readonly ClusterWord[];
  /** What its pods refer to; absent when that is nothing. */
  readonly references?: readonly ReferenceWord[];
  readonly warnings: HubFacts["warnings"];
  /** What would have to change, as sentences with commands. */
  readonly advice: readonly string[];
}

interface ClusterWord {
  readonly name: string;
  /** Of the cluster as a whole; whether the Job's pods fit there is in the manager's message. */
  readonly obstacle?: string;
  readonly advice?: string;
}

export function explainJob(job: Job, facts: HubFacts): Explanation {
  const { namespace = "default", name = "", annotations = {} } = job.metadata;
  const phase = phaseOf(job);
  const queue = queueOf(job);
  const read = readWishes(job);
  const clusters =
    phase === "waiting"
      ? (facts.clusters ?? []).map((cluster) => withManagersWord(wordOn(cluster, job, facts.queue), job))
      : [];
  const references = referenceWords(job, facts.queue, facts.warnings);
  const { [CLUSTER]: cluster, [MESSAGE]: message, [EPOCH]: epoch } = annotations;
  const position = phase === "waiting" ? positionOf(job, facts.waiting) : undefined;
  return {
    job: `${namespace}/${name}`,
    phase,
    ...(cluster === undefined ? {} : { cluster }),
    ...(epoch === undefined ? {} : { epoch: Number(epoch) }),
    ...(message === undefined ? {} : { message }),
    queue,
    ...("wishes" in read ? { priority: facts.priority } : {}),
    ...shareOf(facts.queue),
    ...(position === undefined ? {} : { position }),
    clusters,
    ...(references.length === 0 ? {} : { references }),
    warnings: facts.warnings,
    advice: adviceFor(job, phase, facts, clusters),
  };
}

function shareOf(queue: JobQueue | undefined): Pick<Explanation, "share" | "usage"> {
  const { share, usage } = queue?.status ?? {};
  return share === undefined ? {} : { share: Number(share), usage: usage ?? {} };
}

/** What the manager says of this cluster on the Job, where nothing about the cluster as a whole stands in the way. */
function withManagersWord(word: ClusterWord, { metadata }: Job): ClusterWord {
  if (word.obstacle !== undefined) return word;
  const said = (metadata.annotations?.[MESSAGE] ?? "").replace(/^[^:]*: /, "");
  for (const part of said.split("; ")) {
    const [, names = "", obstacle] = /^([a-z0-9.-]+(?:, [a-z0-9.-]+)*)(?: and \d+ more)?: (.*)$/s.exec(part) ?? [];
    if (obstacle !== undefined && names.split(", ").includes(word.name)) return { ...word, obstacle };
  }
  return word;
}

function phaseOf(job: Job): PhaseName {
  if (!isDispatched(job)) return "not dispatched";
  if (job.metadata.deletionTimestamp !== undefined) return "deleting";
  if (isFinished(job)) return "finished";
  if (job.metadata.annotations?.[CLUSTER] !== undefined) return "assigned";
  return isWaiting(job) ? "waiting" : "suspended";
}

function positionOf(job: Job, waiting: HubFacts["waiting"]): Explanation["position"] {
  const inQueue = waiting?.filter(({ queue }) => queue === queueOf(job)) ?? [];
  const index = inQueue.findIndex(({ uid }) => uid === job.metadata.uid);
  return index < 0 ? undefined : { place: index + 1, of: inQueue.length };
}

function wordOn({ metadata, spec, status }: WorkerCluster, job: Job, queue: JobQueue | undefined): ClusterWord {
  const { name = "", labels = {} } = metadata;
  const condition = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted);
  const says = (obstacle: string, advice?: string): ClusterWord => ({
    name,
    obstacle,
    ...(advice === undefined ? {} : { advice }),
  });
  const read = readWishes(job);
  if ("wishes" in read && !read.wishes.matchesCluster(labels))
    return says(`its labels do not match the Job's selector ${read.wishes.clusterSelector}`);
  const selector = queue?.spec?.clusterSelector;
  if (selector !== undefined && compileSelector(selector)?.(labels) !== true)
    return says(`its labels do not match the selector of the queue ${queue?.metadata.name}`);
  if (spec.namespaces !== undefined && !spec.namespaces.includes(job.metadata.namespace ?? ""))
    return says(`it serves only the namespaces ${spec.namespaces.join(", ")}`);
  if (spec.drain === true) return says("it is being drained", `jobferry cluster uncordon ${name}`);
  if (spec.cordoned === true) return says("it is cordoned", `jobferry cluster uncordon ${name}`);
  const connected = condition("Connected");
  if (connected?.status !== "True")
    return says(`it is not connected${detail(connected)}`, `look at the log of the agent of ${name}`);
  const ready = condition("Ready");
  if (ready !== undefined && ready.status !== "True") return says(`it is not ready${detail(ready)}`);
  if (spec.maxJobs !== undefined && (status?.runningJobs ?? 0) >= spec.maxJobs)
    return says(`it runs ${status?.runningJobs} Jobs, and its maxJobs is ${spec.maxJobs}`);
  return { name };
}

const detail = (condition: { reason?: string; message?: string } | undefined): string =>
  condition?.reason === undefined ? "" : ` (${condition.reason}${condition.message ? `: ${condition.message}` : ""})`;

function adviceFor(job: Job, phase: PhaseName, { queue }: HubFacts, clusters: readonly ClusterWord[]): string[] {
  const { name, namespace = "default" } = job.metadata;
  const advice: string[] = [];
  switch (phase) {
    case "not dispatched":
      advice.push(
        "its spec.managedBy is not jobferry.dev/manager, so this cluster's own controller runs it. The field cannot be changed: " +
          `label the namespace (kubectl label namespace ${namespace} jobferry.dev/dispatch=enabled) and create the Job again`,
      );
      break;
    case "suspended":
      advice.push(
        `it is suspended: kubectl patch job ${name} -n ${namespace} --type merge -p '{"spec":{"suspend":false}}'`,
      );
      break;
    case "waiting": {
      const read = readWishes(job);
      if ("problems" in read) advice.push(...read.problems.map((problem) => `correct it: ${problem}`));
      if (queue?.spec?.paused === true)
        advice.push(`its queue is paused: jobferry queue resume ${queue.metadata.name}`);
      for (const { name: cluster, advice: what } of clusters)
        if (what !== undefined) advice.push(`${cluster}: ${what}`);
      break;
    }
    default:
  }
  return advice;
}
