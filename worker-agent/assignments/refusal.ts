import { ApiError, isForbidden, isInvalid, isNamespaceTerminating, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import type { Needed } from "../references/presence.ts";

/** Why this cluster cannot have the mirror, in the words the manager understands. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /** What would have to appear for the Job to go on here. */
  readonly missing?: readonly Needed[];
  /** What would have to be labelled for it. */
  readonly unlabelled?: Needed;
}

/** The refusal behind a failed create; undefined when trying again here is the right answer. */
export function refusalOf(error: unknown, namespace: string): Refusal | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { message } = error;
  if (isNamespaceTerminating(error)) return { reason: "NamespaceTerminating", message };
  if (isNotFound(error)) return namespaceMissing(namespace);
  if (isForbidden(error) && /exceeded quota/.test(message)) return { reason: "QuotaExceeded", message };
  // Webhooks answer with 400, 403 or any 4xx of their own; 401 and 429 are between us and the server.
  if (/admission webhook .* denied|ValidatingAdmissionPolicy/.test(message))
    return { reason: "AdmissionDenied", message };
  if (isInvalid(error)) return { reason: "Invalid", message };
  // Our own rights, not the Job: an API server that has just started does not know the Roles yet.
  if (isForbidden(error) && /cannot create resource/.test(message))
    return { reason: "Other", message: `the agent lacks rights, see deploy/worker: ${message}` };
  if (isForbidden(error)) return { reason: "AdmissionDenied", message };
  // etcd's limit comes as a 500; with the marks of a mirror the Job is a little larger than on the hub.
  if (/request is too large/.test(message)) return { reason: "Invalid", message };
  return error.code === 400 || error.code === 413 ? { reason: "Other", message } : undefined;
}

export const namespaceMissing = (name: string): Refusal => ({
  reason: "NamespaceMissing",
  message: `namespace ${name} does not exist on this cluster; create it there, and the Job goes on`,
  missing: [{ kind: "Namespace", name }],
});

/** The refusal behind pods that could not be created, by what the Job controller said of it; undefined when it may pass. */
export function podRefusalOf(message: string): Refusal | undefined {
  if (/exceeded quota/.test(message)) return { reason: "QuotaExceeded", message };
  if (/because it is being terminated/.test(message)) return { reason: "NamespaceTerminating", message };
  if (/serviceaccount .* not found/.test(message)) return { reason: "ServiceAccountMissing", message };
  if (/admission webhook .* denied|is forbidden/.test(message)) return { reason: "AdmissionDenied", message };
  return undefined;
}
