/** The failures a Kubernetes API server answers with, in its words: clients and people match on them. */

import type { FieldErrorKind } from "@jobferry/shared/job/validation/errors.ts";
import type { KubeStatus } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";

type Details = NonNullable<KubeStatus["details"]>;

/** What an error message calls a resource: `jobs.batch`, or just `pods` in the core group. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

export interface KindName {
  readonly group: string;
  readonly kind: string;
}

/** One violated rule; beyond what shared/job reports, a value of the wrong type in a custom resource. */
export interface FieldFault {
  readonly field: string;
  readonly kind: FieldErrorKind | "TypeInvalid";
  readonly detail: string;
  readonly badValue?: unknown;
}

export function failure(code: number, reason: string, message: string, details?: Details): ApiError {
  const status: KubeStatus = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
  if (reason !== "") status.reason = reason;
  if (details !== undefined) status.details = details;
  return ApiError.fromStatus(status);
}

const qualified = ({ group, plural }: ResourceName): string => (group === "" ? plural : `${plural}.${group}`);

const detailsOf = ({ group, plural }: ResourceName, name: string): Details => ({
  name,
  ...(group === "" ? {} : { group }),
  kind: plural,
});

export const notFound = (resource: ResourceName, name: string): ApiError =>
  failure(404, "NotFound", `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));

export const alreadyExists = (resource: ResourceName, name: string): ApiError =>
  failure(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, detailsOf(resource, name));

export const conflict = (resource: ResourceName, name: string, detail: string): ApiError =>
  failure(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${detail}`,
    detailsOf(resource, name),
  );

export const modified = (resource: ResourceName, name: string): ApiError =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

export const badRequest = (message: string): ApiError => failure(400, "BadRequest", message);

export const internalError = (message: string): ApiError => failure(500, "", message);

export const methodNotAllowed = (): ApiError =>
  failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const unknownResource = (): ApiError =>
  failure(404, "NotFound", "the server could not find the requested resource", {});

export const unauthorized = (): ApiError => failure(401, "Unauthorized", "Unauthorized");

/** What a server says about a patch it could read but not apply. */
export const unprocessable = (): ApiError =>
  failure(422, "Invalid", "the server rejected our request due to an error in our request", {});

export const expired = (message: string): ApiError => failure(410, "Expired", message);

export const tooOld = (requested: number, oldest: number): ApiError =>
  expired(`too old resource version: ${requested} (${oldest})`);

export const revisionTooLarge = (requested: number, current: number): ApiError =>
  failure(504, "Timeout", `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

const forbidden = (resource: ResourceName, name: string, detail: string, extra: Details = {}): ApiError =>
  failure(403, "Forbidden", `${qualified(resource)} "${name}" is forbidden: ${detail}`, {
    ...detailsOf(resource, name),
    ...extra,
  });

export const namespaceTerminating = (resource: ResourceName, name: string, namespace: string): ApiError =>
  forbidden(resource, name, `unable to create new content in namespace ${namespace} because it is being terminated`, {
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });

const HEADINGS: Record<FieldFault["kind"], string> = {
  Required: "Required value",
  Invalid: "Invalid value",
  TypeInvalid: "Invalid value",
  NotSupported: "Unsupported value",
  Duplicate: "Duplicate value",
  TooLong: "Too long",
  TooMany: "Too many",
  Forbidden: "Forbidden",
  NotFound: "Not found",
};

const UNQUOTED: ReadonlySet<FieldFault["kind"]> = new Set<FieldFault["kind"]>(["Required", "Forbidden", "TooLong"]);

function describe({ kind, detail, badValue }: FieldFault): string {
  const value = badValue === undefined || UNQUOTED.has(kind) ? "" : `: ${JSON.stringify(badValue)}`;
  return `${HEADINGS[kind]}${value}${detail === "" ? "" : `: ${detail}`}`;
}

export function invalid(kind: KindName, name: string, faults: readonly FieldFault[]): ApiError {
  const causes = faults.map((fault) => ({
    reason: `FieldValue${fault.kind}`,
    message: describe(fault),
    field: fault.field,
  }));
  // The summary names each violation once, even when two passes found it; the causes keep both.
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const summary = lines.length === 1 ? lines.join("") : `[${lines.join(", ")}]`;
  const kindName = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  return failure(422, "Invalid", `${kindName} "${name}" is invalid: ${summary}`, {
    ...(name === "" ? {} : { name }),
    ...(kind.group === "" ? {} : { group: kind.group }),
    ...(kind.kind === "" ? {} : { kind: kind.kind }),
    causes,
  });
}
