import type { ObjectMeta, Pod } from "@jobferry/shared/job/types.ts";
import type { RawResponse } from "../../harness/test-cluster.ts";

/** An object as a read shows it. */
export interface Stored {
  readonly metadata: ObjectMeta;
}

/** What became of a request. */
export type Verdict =
  | { readonly outcome: "accepted"; readonly object: Stored }
  | { readonly outcome: "invalid"; readonly causes: readonly string[] }
  | { readonly outcome: "undecodable" }
  | { readonly outcome: "other"; readonly detail: string };

export function serverVerdict({ status, json, text }: RawResponse): Verdict {
  if (status === 200 || status === 201) return { outcome: "accepted", object: json as Stored };
  const { reason, details } = json as { reason?: string; details?: { causes?: { field?: string; reason?: string }[] } };
  if (status === 422) {
    return invalid((details?.causes ?? []).map((cause) => ({ field: cause.field ?? "", reason: cause.reason ?? "" })));
  }
  if (status === 400 && reason === "BadRequest") return { outcome: "undecodable" };
  return { outcome: "other", detail: `${status} ${text.slice(0, 300)}` };
}

/** The generic registry checks metadata before the Job's own strategy does it again: those count once. */
function invalid(causes: readonly { field: string; reason: string }[]): Verdict {
  const lines = causes.map(({ field, reason }) => `${field} ${reason}`);
  const once = lines.filter((line, index) => !line.startsWith("metadata.") || lines.indexOf(line) === index);
  return { outcome: "invalid", causes: once.sort() };
}

/** Admission plugins and the status are not our subject. */
export function withoutAdmission({ metadata, spec }: Pick<Pod, "metadata" | "spec">): Stored {
  const { name } = metadata;
  const { priority: _value, preemptionPolicy: _policy, tolerations: _given, ...own } = spec;
  return { metadata: { ...(name === undefined ? {} : { name }) }, ...{ spec: own } };
}
