import type { Job } from "@jobferry/shared/job/types.ts";
import { MAX_PAYLOAD_BYTES } from "@jobferry/shared/protocol/limits.ts";

/** The rest of a delivery, and room for the status to grow in while the Job runs. */
const RESERVED_BYTES = 64 * 1024;
const MAX_JOB_BYTES = MAX_PAYLOAD_BYTES - RESERVED_BYTES;

/** An API server stores a Job in less space than its JSON takes, so that it may hold one that no message can carry. */
export function sizeProblem({ metadata: { labels, annotations }, spec, status }: Job): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify({ labels, annotations, spec, status }));
  if (bytes <= MAX_JOB_BYTES) return undefined;
  return `the Job takes ${bytes} bytes as JSON, and a cluster can be sent ${MAX_JOB_BYTES}: make its template or annotations smaller`;
}
