import type { Job } from "@jobferry/shared/job/types.ts";
import { TAKEN } from "@jobferry/shared/protocol/marks.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import type { HubJobs } from "../hub/jobs.ts";
import type { Phases } from "../hub/phase.ts";
import type { Queues } from "../placement/queues.ts";
import { changedSince, formatTaken, mayHaveRun, onChangeOf, waitsSentence } from "./changes.ts";
import type { HubReferences } from "./hub-references.ts";

export interface ListAgainOptions {
  readonly references: Pick<HubReferences, "list">;
  readonly jobs: Pick<HubJobs, "note">;
  readonly phases: Pick<Phases, "storedSeq">;
  readonly queues: Pick<Queues, "onReferenceChange">;
}

export type ListedAgain = { readonly references: readonly ListedReference[] } | { readonly problem: string };

/**
 * What travels with a Job that is delivered once more. A mirror that has begun has its copies. One that has not may be created by
 * this delivery: with less than the Job needs it would use whatever has that name on its cluster.
 */
export async function listAgain(
  job: Job,
  queue: string,
  { references, jobs, phases, queues }: ListAgainOptions,
): Promise<ListedAgain> {
  const { references: found, taken, problem } = await references.list(job, queue);
  if (phases.storedSeq(job) > 0) return { references: found };
  if (problem !== undefined) return { problem };
  const noted = job.metadata.annotations?.[TAKEN];
  const changed = mayHaveRun(job) ? changedSince(noted, taken) : [];
  if (changed.length > 0 && onChangeOf(job, queue, queues) === "Wait") return { problem: waitsSentence(changed, job) };
  // An agent may ask for what is noted, and for nothing else.
  if (taken !== undefined && formatTaken(taken) !== noted) await jobs.note(job, { [TAKEN]: formatTaken(taken) });
  return { references: found };
}
