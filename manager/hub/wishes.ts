import type { LabelMatcher } from "@jobferry/shared/job/selector.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { parseLabelSelector } from "@jobferry/shared/kube/label-selector.ts";
import { type OnClusterLost, onClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import {
  CLUSTER_SELECTOR,
  DEFAULT_QUEUE,
  ON_CLUSTER_LOST,
  ON_REFERENCE_CHANGE,
  PRIORITY,
  QUEUE_LABEL,
  UNSCHEDULABLE_AFTER,
} from "@jobferry/shared/protocol/marks.ts";
import { parseDuration } from "@jobferry/shared/runtime/duration.ts";
import { z } from "zod";

const onReferenceChange = z.enum(["Use", "Wait"]);
export type OnReferenceChange = z.infer<typeof onReferenceChange>;

/** What the submitter asks of dispatch, in labels and annotations of the Job. */
export interface Wishes {
  readonly queue: string;
  /** Higher goes first; undefined: as the PriorityClass of its pods says. */
  readonly priority: number | undefined;
  /** As written; Jobs with the same text select the same clusters. */
  readonly clusterSelector: string;
  readonly matchesCluster: LabelMatcher;
  /** Undefined: as the queue says. */
  readonly onClusterLost: OnClusterLost | undefined;
  /** Undefined: as the queue says. */
  readonly unschedulableAfterMs: number | undefined;
  /** Undefined: as the queue says. */
  readonly onReferenceChange: OnReferenceChange | undefined;
}

const MAX_JOB_PRIORITY = 1_000_000;
/** A selector is tried on every cluster, again and again: one that is larger than any person writes would slow the others down. */
const MAX_SELECTOR_CHARS = 4096;
const MAX_REQUIREMENTS = 64;

/** Every wish that cannot be understood is named, with what would be; the Job waits until it is corrected. */
export function readWishes(job: Job): { wishes: Wishes } | { problems: string[] } {
  const annotations = job.metadata.annotations ?? {};
  const problems: string[] = [];

  const priorityText = annotations[PRIORITY];
  const priority = priorityText === undefined ? undefined : /^\d{1,7}$/.test(priorityText) ? Number(priorityText) : -1;
  if (priorityText !== undefined && !(priority !== undefined && priority >= 0 && priority <= MAX_JOB_PRIORITY))
    problems.push(`annotation ${PRIORITY}: ${quote(priorityText)} is not a whole number from 0 to ${MAX_JOB_PRIORITY}`);

  const clusterSelector = annotations[CLUSTER_SELECTOR] ?? "";
  let matchesCluster: LabelMatcher = () => true;
  if (clusterSelector.length > MAX_SELECTOR_CHARS)
    problems.push(
      `annotation ${CLUSTER_SELECTOR}: has ${clusterSelector.length} characters, and at most ${MAX_SELECTOR_CHARS} are allowed: make the selector shorter`,
    );
  else
    try {
      matchesCluster = parseLabelSelector(clusterSelector, undefined, MAX_REQUIREMENTS) ?? matchesCluster;
    } catch (error) {
      problems.push(
        `annotation ${CLUSTER_SELECTOR}: ${quote(clusterSelector)} is not a label selector such as "zone=eu,gpu in (a,b)": ${(error as Error).message}`,
      );
    }

  const lostText = annotations[ON_CLUSTER_LOST];
  const lost = onClusterLost.optional().safeParse(lostText);
  if (!lost.success)
    problems.push(
      `annotation ${ON_CLUSTER_LOST}: ${quote(lostText ?? "")} is none of ${onClusterLost.options.join(", ")}`,
    );

  const afterText = annotations[UNSCHEDULABLE_AFTER];
  const unschedulableAfterMs = afterText === undefined ? undefined : parseDuration(afterText);
  if (afterText !== undefined && unschedulableAfterMs === undefined)
    problems.push(`annotation ${UNSCHEDULABLE_AFTER}: ${quote(afterText)} is not a duration such as 5m or 1h30m`);

  const changeText = annotations[ON_REFERENCE_CHANGE];
  const change = onReferenceChange.optional().safeParse(changeText);
  if (!change.success)
    problems.push(
      `annotation ${ON_REFERENCE_CHANGE}: ${quote(changeText ?? "")} is none of ${onReferenceChange.options.join(", ")}`,
    );

  if (problems.length > 0) return { problems };
  const queue = job.metadata.labels?.[QUEUE_LABEL] ?? DEFAULT_QUEUE;
  const policies = { onClusterLost: lost.data, onReferenceChange: change.data, unschedulableAfterMs };
  return { wishes: { queue, priority, clusterSelector, matchesCluster, ...policies } };
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
