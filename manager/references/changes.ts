import type { Job } from "@jobferry/shared/job/types.ts";
import { ON_REFERENCE_CHANGE } from "@jobferry/shared/protocol/marks.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import { type OnReferenceChange, readWishes } from "../hub/wishes.ts";
import type { Queues } from "../placement/queues.ts";

/** What a Job took along when it was dispatched: kind and name, and the first digits of the hash. */
export interface Taken {
  readonly kind: CopiedKind;
  readonly name: string;
  /** By each of the manager's keys, the one in use first: new keys leave the contents as they were. */
  readonly hashes: readonly string[];
}

/** As in the names of copies. */
const DIGITS = 10;

/** For the Job's annotation: `ConfigMap/words:0123456789,Secret/login:...`; empty where it refers to nothing that is there. */
export const formatTaken = (taken: readonly Taken[]): string =>
  taken.map(({ kind, name, hashes: [hash = ""] }) => `${kind}/${name}:${hash.slice(0, DIGITS)}`).join(",");

/**
 * The objects whose contents are not what the Job took along: changed, gone or come since. None where nobody noted any, and where
 * nothing travels any more, by the queue's will.
 */
export function changedSince(noted: string | undefined, taken: readonly Taken[] | undefined): string[] {
  if (noted === undefined || taken === undefined) return [];
  const before = new Map<string, string>();
  for (const entry of noted.split(",")) {
    const [object = "", hash = ""] = entry.split(":");
    if (object !== "") before.set(object, hash);
  }
  const changed: string[] = [];
  for (const { kind, name, hashes } of taken) {
    const object = `${kind}/${name}`;
    const hash = before.get(object);
    before.delete(object);
    if (!hashes.some((one) => one.slice(0, DIGITS) === hash)) changed.push(object);
  }
  return [...changed, ...before.keys()].map((object) => object.replace("/", " "));
}

/** Whether the Job took just these contents along. */
export const isTaken = (noted: string | undefined, kind: CopiedKind, name: string, hash: string): boolean =>
  noted?.split(",").includes(`${kind}/${name}:${hash.slice(0, DIGITS)}`) === true;

/** Whether some cluster has begun with it: one that was only ever refused has used nothing yet. */
export const mayHaveRun = ({ status = {} }: Job): boolean =>
  status.startTime !== undefined ||
  (status.conditions ?? []).some(({ type }) => type === "Suspended") ||
  [status.active, status.succeeded, status.failed, status.terminating].some((count) => (count ?? 0) > 0);

/** The Job's own wish, or else its queue's. */
export function onChangeOf(job: Job, queue: string, queues: Pick<Queues, "onReferenceChange">): OnReferenceChange {
  const read = readWishes(job);
  return ("wishes" in read ? read.wishes.onReferenceChange : undefined) ?? queues.onReferenceChange(queue);
}

/** More than a submitter reads at once. */
const NAMED = 5;

const named = (changed: readonly string[], namespace: string): string => {
  const names = changed.slice(0, NAMED).map((object) => object.replace(" ", ` ${namespace}/`));
  return `${names.join(", ")}${changed.length > NAMED ? ` and ${changed.length - NAMED} more` : ""}`;
};

/** For a Job that goes on with other contents. */
export const usedSentence = (changed: readonly string[], { metadata: { namespace = "" } }: Job): string =>
  `${named(changed, namespace)} changed on the hub since the Job was last dispatched; it goes on with the new contents`;

/** For a Job that does not. */
export const waitsSentence = (changed: readonly string[], { metadata: { namespace = "", name = "" } }: Job): string =>
  `${named(changed, namespace)} changed on the hub since the Job was last dispatched: put the old contents back, or let it go on with the new ones: kubectl annotate job ${name} -n ${namespace} --overwrite ${ON_REFERENCE_CHANGE}=Use`;
