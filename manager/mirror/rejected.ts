import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { ApiError, isInvalid } from "@jobferry/shared/kube/errors.ts";

/** Fields that a hub can do without: they say how it stands, not what was achieved. */
const OPTIONAL = ["ready", "terminating", "active", "uncountedTerminatedPods"] as const satisfies (keyof JobStatus)[];

export interface Rejection {
  /** What the API server named, such as `status.terminating`. */
  readonly fields: readonly string[];
  /** The status without them; undefined when one of them cannot be left out. */
  readonly reduced: JobStatus | undefined;
}

/** What the hub's API server, perhaps of another version than our rules, has against a status; undefined for other failures. */
export function rejectionOf(error: unknown, status: JobStatus): Rejection | undefined {
  if (!isInvalid(error) || !(error instanceof ApiError)) return undefined;
  const causes = error.status?.details?.causes ?? [];
  const fields = [...new Set(causes.map(({ field }) => field ?? ""))].filter((field) => field !== "");
  const dropped = OPTIONAL.filter((name) => fields.some((field) => isWithin(field, `status.${name}`)));
  const isEnough =
    fields.length > 0 && fields.every((field) => dropped.some((name) => isWithin(field, `status.${name}`)));
  if (!isEnough) return { fields, reduced: undefined };
  const reduced = { ...status };
  for (const name of dropped) delete reduced[name];
  return { fields, reduced };
}

const isWithin = (field: string, parent: string): boolean =>
  field === parent || field.startsWith(`${parent}.`) || field.startsWith(`${parent}[`);
