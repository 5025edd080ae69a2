import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { type Reference, referencesOf } from "@jobferry/shared/references/template.ts";

/** One object that the Job's pods refer to. */
export interface ReferenceWord {
  readonly object: string;
  /** Where its pods get it from. */
  readonly from: "the hub" | "the worker";
  readonly optional?: true;
  /** Clusters that refused the Job because they do not have it. */
  readonly missingOn?: readonly string[];
}

const CLUSTER_SCOPED = new Set(["PriorityClass", "RuntimeClass"]);

/** What the Job refers to, and which clusters are known to lack it: by the queue's policy and what they said when they refused. */
export function referenceWords(
  job: Job,
  queue: JobQueue | undefined,
  warnings: readonly { readonly message: string }[],
): ReferenceWord[] {
  const { configMaps = "Copy", secrets = "Expect" } = queue?.spec?.references ?? {};
  const copied = new Set([...(configMaps === "Copy" ? ["ConfigMap"] : []), ...(secrets === "Copy" ? ["Secret"] : [])]);
  const refusals = warnings.flatMap(({ message }) => {
    const [, cluster, objects] =
      /Cluster (\S+) refused the Job: ReferenceMissing: (.*) do(?:es)? not exist/.exec(message) ?? [];
    return cluster === undefined ? [] : [{ cluster, objects: new Set((objects ?? "").split(", ")) }];
  });
  return referencesOf(job.spec.template).map((reference) => {
    const object = nameOf(reference, job.metadata.namespace ?? "");
    const missingOn = refusals.filter(({ objects }) => objects.has(object)).map(({ cluster }) => cluster);
    return {
      object,
      from: copied.has(reference.kind) && reference.name !== "kube-root-ca.crt" ? "the hub" : "the worker",
      ...(reference.optional ? { optional: true } : {}),
      ...(missingOn.length === 0 ? {} : { missingOn: [...new Set(missingOn)] }),
    };
  });
}

const nameOf = ({ kind, name }: Reference, namespace: string): string =>
  CLUSTER_SCOPED.has(kind) ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

export const referenceLine = ({ object, from, optional, missingOn = [] }: ReferenceWord): string =>
  [
    `${object}: ${from === "the hub" ? "travels from the hub" : "must be on the worker"}`,
    ...(optional === true ? ["optional"] : []),
    ...(missingOn.length === 0 ? [] : [`missing on ${missingOn.join(", ")}`]),
  ].join("; ");
