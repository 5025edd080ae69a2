import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER, EPOCH, MESSAGE, SEQ, TAKEN } from "@jobferry/shared/protocol/marks.ts";
import { type Reference, referencesOf } from "@jobferry/shared/references/template.ts";

/** One object that the Job's pods refer to. */
export interface ReferenceWord {
  readonly object: string;
  /** Where its pods get it from. */
  readonly from: "the hub" | "the worker";
  readonly optional?: true;
  /** By the cluster's name, and `hub`; absent while nobody was asked. */
  readonly states?: Readonly<Record<string, ReferenceState>>;
}

/** `copied` and `found`: the Job has begun there, which it does not without. */
type ReferenceState =
  | "missing"
  | "not readable"
  | "changed"
  | "refused"
  | "on its way"
  | "copied"
  | "found"
  | "left out";

const CLUSTER_SCOPED = new Set(["PriorityClass", "RuntimeClass"]);

/** What the Job refers to, and how it stands with that on each cluster: by the Job's marks and what clusters said when they refused. */
export function referenceWords(
  job: Job,
  queue: JobQueue | undefined,
  warnings: readonly { readonly message: string }[],
): ReferenceWord[] {
  const { configMaps = "Copy", secrets = "Expect" } = queue?.spec?.references ?? {};
  const copied = new Set([...(configMaps === "Copy" ? ["ConfigMap"] : []), ...(secrets === "Copy" ? ["Secret"] : [])]);
  return referencesOf(job.spec.template).map((reference) => {
    const object = nameOf(reference, job.metadata.namespace ?? "");
    const travels = copied.has(reference.kind) && reference.name !== "kube-root-ca.crt";
    const states = {
      ...(travels ? onHub(job, object) : {}),
      ...refusedBy(warnings, reference, object, travels),
      ...here(job, reference, travels),
    };
    return {
      object,
      from: travels ? "the hub" : "the worker",
      ...(reference.optional ? { optional: true } : {}),
      ...(Object.keys(states).length === 0 ? {} : { states }),
    };
  });
}

type States = Record<string, ReferenceState>;

/** Why a Job waits that cannot take it along. */
function onHub({ metadata: { annotations = {} } }: Job, object: string): States {
  const message = annotations[CLUSTER] === undefined ? (annotations[MESSAGE] ?? "") : "";
  if (message.startsWith(`waiting: ${object} does not exist on the hub`)) return { hub: "missing" };
  if (message.startsWith(`waiting: ${object} may not be read`)) return { hub: "not readable" };
  const [, changed = ""] = /^waiting: (.*) changed on the hub since/.exec(message) ?? [];
  return changed.split(", ").includes(object) ? { hub: "changed" } : {};
}

function refusedBy(
  warnings: readonly { readonly message: string }[],
  { kind }: Reference,
  object: string,
  travels: boolean,
): States {
  const states: States = {};
  for (const { message } of warnings) {
    const [, cluster = "", reason, text = ""] =
      /Cluster (\S+) refused the Job: (Reference\w+): (.*)/.exec(message) ?? [];
    const [lacking = ""] = text.split(/(?: and \d+ more)? do(?:es)? not exist/);
    if (reason === "ReferenceMissing" && lacking.split(", ").includes(object)) states[cluster] = "missing";
    if (
      reason === "ReferenceNotAccepted" &&
      travels &&
      new RegExp(`(takes no ${kind}s|may not copy ${kind}) `).test(text)
    )
      states[cluster] = "refused";
  }
  return states;
}

/** On the cluster that has the Job. A report of the present epoch is of a mirror that has all it needs. */
function here({ metadata: { annotations = {} } }: Job, { kind, name, optional }: Reference, travels: boolean): States {
  const { [CLUSTER]: cluster, [EPOCH]: epoch, [SEQ]: seq = "", [TAKEN]: taken } = annotations;
  if (cluster === undefined) return {};
  const hasBegun = seq.split(":")[0] === epoch;
  const isTaken = taken?.split(",").some((entry) => entry.startsWith(`${kind}/${name}:`));
  if (travels && isTaken === false) return { hub: "left out" };
  if (travels && isTaken === true) return { [cluster]: hasBegun ? "copied" : "on its way" };
  // Nobody looks for what pods start without.
  return hasBegun && !travels && !optional ? { [cluster]: "found" } : {};
}

const nameOf = ({ kind, name }: Reference, namespace: string): string =>
  CLUSTER_SCOPED.has(kind) ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

const SAID: Readonly<Record<ReferenceState, (where: string) => string>> = {
  missing: (where) => `missing on ${where}`,
  "not readable": () => "the manager may not read it",
  changed: () => "changed on the hub since the Job was last dispatched",
  refused: (where) => `refused by ${where}`,
  "on its way": (where) => `on its way to ${where}`,
  copied: (where) => `copied to ${where}`,
  "left out": () => "the hub has none that the manager may take along",
  found: (where) => `found on ${where}`,
};

export const referenceLine = ({ object, from, optional, states = {} }: ReferenceWord): string =>
  [
    `${object}: ${from === "the hub" ? "travels from the hub" : "must be on the worker"}`,
    ...(optional === true ? ["optional"] : []),
    ...Object.entries(states).map(([where, state]) => SAID[state](where === "hub" ? "the hub" : where)),
    ...(Object.keys(states).length > 0 || (optional === true && from === "the worker") ? [] : ["no cluster asked yet"]),
  ].join("; ");
