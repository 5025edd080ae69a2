import { decodeJob, decodePod } from "@jobferry/sandbox/kinds/decode.ts";
import { defaultJob } from "@jobferry/sandbox/kinds/defaulting/job.ts";
import { defaultPod } from "@jobferry/sandbox/kinds/defaulting/pod.ts";
import {
  asStored,
  prepareJobForCreate,
  prepareJobForStatusUpdate,
  prepareJobForUpdate,
} from "@jobferry/sandbox/kinds/job-strategy.ts";
import {
  validateJobCreate,
  validateJobStatusWrite,
  validateJobUpdate,
} from "@jobferry/sandbox/kinds/validation/job.ts";
import { validatePodCreate } from "@jobferry/sandbox/kinds/validation/pod-template.ts";
import { DecodeError } from "@jobferry/sandbox/schema/decode.ts";
import type { Job, ObjectMeta, Pod } from "@jobferry/shared/job/types.ts";
import { type FieldError, toStatusCause } from "@jobferry/shared/job/validation/errors.ts";
import type { RawResponse } from "../../harness/test-cluster.ts";

/** An object as a read shows it. */
export interface Stored {
  readonly metadata: ObjectMeta;
}

/** What became of a request, in terms that both sides share. */
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

const judged = (object: Stored, errors: readonly FieldError[]): Verdict =>
  errors.length === 0 ? { outcome: "accepted", object } : invalid(errors.map(toStatusCause));

const judgedJob = (job: Job, errors: readonly FieldError[]): Verdict => judged(asStored(job), errors);

/** The UID that a Job gets on our side; comparisons replace the server's by it. */
const OUR_UID = "00000000-0000-4000-8000-000000000000";

/** What the sandbox's decoder refuses is undecodable. */
function judging(judge: () => Verdict): Verdict {
  try {
    return judge();
  } catch (error) {
    if (error instanceof DecodeError) return { outcome: "undecodable" };
    throw error;
  }
}

export const ourCreateVerdict = (json: unknown, namespace: string): Verdict =>
  judging(() => {
    const decoded = decodeJob(json);
    const { metadata } = decoded;
    const name = metadata.name ?? (metadata.generateName ? `${metadata.generateName.slice(0, 58)}abcde` : undefined);
    const filled: ObjectMeta = { ...metadata, ...(name === undefined ? {} : { name }), namespace, uid: OUR_UID };
    const job = prepareJobForCreate(defaultJob({ ...decoded, metadata: filled }));
    return judgedJob(job, validateJobCreate(job));
  });

export const ourUpdateVerdict = (stored: Job, json: unknown, subresource: "" | "status"): Verdict =>
  judging(() => {
    const decoded = decodeJob(json);
    const filled = defaultJob({ ...decoded, metadata: keepServerFields(stored.metadata, decoded.metadata) });
    if (subresource === "status") {
      const job = prepareJobForStatusUpdate(stored, filled);
      return judgedJob(job, validateJobStatusWrite(stored, job));
    }
    const job = prepareJobForUpdate(stored, filled);
    return judgedJob(job, validateJobUpdate(stored, job));
  });

export const ourPodVerdict = (json: unknown, namespace: string): Verdict =>
  judging(() => {
    const decoded = decodePod(json);
    const pod = defaultPod({ ...decoded, metadata: { ...decoded.metadata, namespace, uid: OUR_UID } });
    return judged(withoutAdmission(pod), validatePodCreate(pod));
  });

/** Admission plugins and the status are not our subject. */
export function withoutAdmission({ metadata, spec }: Pick<Pod, "metadata" | "spec">): Stored {
  const { name } = metadata;
  const { priority: _value, preemptionPolicy: _policy, tolerations: _given, ...own } = spec;
  return { metadata: { ...(name === undefined ? {} : { name }) }, ...{ spec: own } };
}

/** What the generic registry fills in before it asks the Job's own strategy. */
function keepServerFields(stored: ObjectMeta, proposed: ObjectMeta): ObjectMeta {
  const { uid = "", resourceVersion = "", creationTimestamp = "", namespace = "" } = stored;
  const { generation: _theirs, deletionTimestamp: _never, ...rest } = proposed;
  return {
    ...rest,
    namespace,
    creationTimestamp,
    uid: rest.uid ?? uid,
    resourceVersion: rest.resourceVersion ?? resourceVersion,
  };
}
