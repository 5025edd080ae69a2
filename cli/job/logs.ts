/** `jobferry logs JOB`: what the pods of a Job have written, as the hub shows them; where it shows none, through the manager. */
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { CLUSTER } from "@jobferry/shared/protocol/marks.ts";
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { z } from "zod";
import { askHub } from "../hub/ask.ts";
import { logsConfig } from "./flags.ts";
import { Lines } from "./lines.ts";
import { type LogSource, shownPods } from "./log-source.ts";
import { ManagerLogs, routeToManager } from "./manager-logs.ts";
import { readJob } from "./read.ts";

/** Pods that are followed at a time; the others are read when one of these ends. */
const MOST_AT_ONCE = 20;

type LogsConfig = z.output<typeof logsConfig>;

export async function runLogs(name: string, given: GivenConfig, write: (text: string) => void): Promise<void> {
  const config = loadConfig(logsConfig, given);
  await askHub(config, given.env, async (api, own) => {
    const namespace = config.namespace ?? own;
    const job = await readJob(api, namespace, name);
    const shown = shownPods(api, namespace);
    const chosen = config.askManager ? [] : choose(await shown.pods(job), config);
    if (chosen.length > 0) return await readAll(shown, chosen, config, write);
    const route = await routeToManager(api, config);
    try {
      const manager = new ManagerLogs(api, route, job);
      const others = choose(await manager.pods(), config);
      if (others.length === 0) throw new ConfigError(noPods(job, config.index));
      await readAll(manager, others, config, write);
    } finally {
      await route.close();
    }
  });
}

async function readAll(
  source: LogSource,
  chosen: readonly Pod[],
  config: LogsConfig,
  write: (text: string) => void,
): Promise<void> {
  const isPrefixed = config.all || config.index !== undefined;
  const options = { follow: config.follow, ...(config.tail === undefined ? {} : { tailLines: config.tail }) };
  const one = async (pod: Pod): Promise<void> => {
    const container = config.container ?? pod.spec.containers[0]?.name ?? "";
    const lines = new Lines(isPrefixed ? prefixOf(pod) : "", write);
    try {
      for await (const chunk of await source.read(pod, { ...options, container })) lines.add(chunk);
    } catch (error) {
      // One pod that has not started must not hide what the others say.
      if (!isPrefixed || !(error instanceof ApiError || error instanceof ConfigError)) throw error;
      lines.add(Buffer.from(`(${error.message})\n`));
    }
    lines.end();
  };
  const waiting = chosen.values();
  const reader = async (): Promise<void> => {
    for (const pod of waiting) await one(pod);
  };
  // Without following, one after the other: lines of one pod stay together.
  await Promise.all(Array.from({ length: config.follow ? MOST_AT_ONCE : 1 }, reader));
}

/** All that were asked for; else the one that somebody looks for: one that failed, that runs, or the last. */
export function choose(found: readonly Pod[], { all, index }: { all: boolean; index?: number | undefined }): Pod[] {
  const sorted = found.toSorted(
    (one, other) =>
      (completionIndex(one) ?? 0) - (completionIndex(other) ?? 0) ||
      (one.metadata.creationTimestamp ?? "").localeCompare(other.metadata.creationTimestamp ?? ""),
  );
  if (index !== undefined) return sorted.filter((pod) => completionIndex(pod) === index);
  if (all) return sorted;
  const of = (phase: string): Pod | undefined => sorted.findLast(({ status }) => status?.phase === phase);
  return [of("Failed") ?? of("Running") ?? sorted.at(-1) ?? []].flat();
}

function prefixOf(pod: Pod): string {
  const index = completionIndex(pod);
  return `[${pod.metadata.name}${index === undefined ? "" : ` ${index}`}] `;
}

function noPods({ metadata: { name, annotations } }: Job, index: number | undefined): string {
  const which = index === undefined ? "no pods" : `no pod of index ${index}`;
  return `cluster ${annotations?.[CLUSTER] ?? "of the Job"} has ${which} of Job ${name}: none has started yet, or they are gone with the worker's copy (--retention-seconds of the agent)`;
}
