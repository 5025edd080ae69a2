/** What to do with a status that the hub's API server, perhaps of another version than our rules, does not take as it is. */
import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { ApiError, isInvalid } from "@jobferry/shared/kube/errors.ts";
import { sameJson } from "../hub/same-json.ts";

/** They announce the outcome; the terminal condition stands without them. */
const INTERIM = new Set(["SuccessCriteriaMet", "FailureTarget"]);

export interface Rejection {
  /** What the API server named, such as `status.terminating`. */
  readonly fields: readonly string[];
  /** The status that changes nothing about them; undefined when there is no such status worth writing. */
  readonly reduced: JobStatus | undefined;
}

/** What the hub has against changing its `stored` status to this one; undefined for other failures. */
export function rejectionOf(error: unknown, status: JobStatus, stored: JobStatus): Rejection | undefined {
  if (!isInvalid(error) || !(error instanceof ApiError)) return undefined;
  const causes = error.status?.details?.causes ?? [];
  const fields = [...new Set(causes.map(({ field }) => field ?? ""))].filter((field) => field !== "");
  const names = fields.map((field) => /^status\.(\w+)/.exec(field)?.[1] as keyof JobStatus | undefined);
  let reduced: JobStatus = status;
  for (const name of names) {
    if (name === undefined) return { fields, reduced: undefined };
    reduced = name === "conditions" ? withoutInterim(reduced, stored) : withStored(reduced, stored, name);
  }
  return { fields, reduced: sameJson(reduced, status) ? undefined : reduced };
}

/** A hub checks what changes: its own value stands, so no counter falls. */
function withStored(status: JobStatus, stored: JobStatus, name: keyof JobStatus): JobStatus {
  const { [name]: _, ...rest } = status;
  return stored[name] === undefined ? rest : { ...rest, [name]: stored[name] };
}

function withoutInterim(status: JobStatus, stored: JobStatus): JobStatus {
  const known = new Set(stored.conditions?.map(({ type }) => type));
  const conditions = (status.conditions ?? []).filter(({ type }) => !INTERIM.has(type) || known.has(type));
  return { ...status, conditions };
}

/** Fields of a status that the hub accepted but does not show: it does not know them. */
export function forgottenBy(stored: JobStatus | undefined, sent: JobStatus): string[] {
  const names = Object.keys(sent) as (keyof JobStatus)[];
  return names.filter((name) => !isNothing(sent[name]) && isNothing(stored?.[name])).map((name) => `status.${name}`);
}

/** What an API server may leave out. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);
