/** For tests: small Jobs and what validation says about them. */

import type { Job } from "@jobferry/shared/job/types.ts";
import { decodeJob } from "../../decode.ts";
import { defaultJob } from "../../defaulting/job.ts";

export const container = { name: "c", image: "busybox" };
export const podSpec = { restartPolicy: "Never", containers: [container] };
export const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 };
export const perIndex = { ...indexed, backoffLimitPerIndex: 1 };

/** Decoded and defaulted; null takes a field away. */
export function decodedJob(spec: object, metadata: object = {}): Job {
  const job = decodeJob({
    metadata: { name: "pi", namespace: "default", uid: "u1", resourceVersion: "1", ...metadata },
    spec: { template: { spec: podSpec }, ...spec },
  });
  return defaultJob(job);
}

/** `field kind`, sorted. */
export const complaints = (errors: readonly { field: string; kind: string }[]): string[] =>
  errors.map(({ field, kind }) => `${field} ${kind}`).sort();
