/** Whatever JSON arrives is decoded or refused; whatever was decoded is judged. Nothing throws. */

import type { Job } from "@jobferry/shared/job/types.ts";
import { formatFieldError, toStatusCause } from "@jobferry/shared/job/validation/errors.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TYPES } from "../../schema/canonical/types.ts";
import { decodeJob, decodePod } from "../decode.ts";
import { defaultJob } from "../defaulting/job.ts";
import { defaultPod } from "../defaulting/pod.ts";
import { asStored, prepareJobForCreate, prepareJobForStatusUpdate, prepareJobForUpdate } from "../job-strategy.ts";
import { validateJobCreate, validateJobStatusWrite, validateJobUpdate } from "./job.ts";
import { validatePodCreate } from "./pod-template.ts";

const STORED: Job = prepareJobForCreate(
  defaultJob({
    metadata: { name: "a", namespace: "b", uid: "c", resourceVersion: "1" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x", resources: {} }] } } },
  }),
);

function judge(json: unknown): void {
  const decoded = decodeJob(json);
  if ("error" in decoded) {
    expect(decoded.error.message).not.toBe("");
    return;
  }
  const job = defaultJob(decoded.value);
  const prepared = prepareJobForCreate(job);
  const errors = [
    ...validateJobCreate(prepared),
    ...validateJobUpdate(STORED, prepareJobForUpdate(STORED, job)),
    ...validateJobUpdate(prepared, prepareJobForUpdate(prepared, job)),
    ...validateJobStatusWrite(STORED, prepareJobForStatusUpdate(STORED, job)),
    ...validateJobStatusWrite(job, prepareJobForStatusUpdate(job, STORED)),
  ];
  for (const error of errors) expect(toStatusCause(error).message + formatFieldError(error)).not.toBe("");
  asStored(prepared);
}

const scalar = fc.oneof(
  fc.constantFrom(null, "", "x", "Never", "Indexed", "True", "0-2", "1Gi", "2026-01-01T00:00:00Z", true, false),
  fc.integer({ min: -3, max: 100_002 }),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Mostly well-shaped objects of a table type, so that validation is reached, with anything in their fields. */
function shaped(typeName: string, depth: number): fc.Arbitrary<unknown> {
  const fields = TYPES.get(typeName) ?? [];
  const model = Object.fromEntries(
    fields.map(({ name, type, collection }) => {
      const item = TYPES.has(type) && depth > 0 ? shaped(type, depth - 1) : fitting(type);
      if (collection === "list") return [name, fc.array(item, { maxLength: 2 })];
      return [
        name,
        collection === "map" ? fc.dictionary(fc.constantFrom("a", "cpu", "bad key"), item, { maxKeys: 2 }) : item,
      ];
    }),
  );
  return fc.record(model, { requiredKeys: [] });
}

function fitting(type: string): fc.Arbitrary<unknown> {
  const rarely = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 400, arbitrary: usual }, { weight: 1, arbitrary: scalar });
  switch (type) {
    case "string":
      return rarely(
        fc.constantFrom("", "a", "A b", "Never", "Indexed", "FailIndex", "In", "0,1", "x.io/y", "metadata.name"),
      );
    case "bool":
      return rarely(fc.boolean());
    case "int32":
    case "int64":
      return rarely(fc.integer({ min: -2, max: 100_002 }));
    case "intOrString":
      return rarely(fc.constantFrom(0, 80, "http", ""));
    case "quantity":
      return rarely(fc.constantFrom("1", "-1", "500m", "1Gi", 2));
    case "time":
      return rarely(fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"));
    default:
      return rarely(fc.constant({}));
  }
}

test("arbitrary JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), judge), { numRuns: 300 });
});

test("arbitrary JSON in the parts of a Job", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (metadata, spec, status) => {
      judge({ metadata, spec, status });
    }),
    { numRuns: 300 },
  );
});

test("shaped Jobs with arbitrary fields", () => {
  const spec = shaped("JobSpec", 1);
  const podSpec = shaped("PodSpec", 1);
  const status = shaped("JobStatus", 2);
  let judged = 0;
  fc.assert(
    fc.property(spec, podSpec, status, shaped("ObjectMeta", 1), (jobSpec, pod, jobStatus, metadata) => {
      const json = { metadata, spec: { ...(jobSpec as object), template: { metadata, spec: pod } }, status: jobStatus };
      if ("value" in decodeJob(json)) judged++;
      judge(json);
    }),
    { numRuns: 150 },
  );
  expect(judged).toBeGreaterThan(30);
});

test("shaped pods with arbitrary fields", () => {
  fc.assert(
    fc.property(shaped("PodSpec", 2), (spec) => {
      const decoded = decodePod({ metadata: { name: "a" }, spec });
      if ("value" in decoded) for (const error of validatePodCreate(defaultPod(decoded.value))) toStatusCause(error);
    }),
    { numRuns: 150 },
  );
});

test("single fields of a valid Job replaced by anything", () => {
  const paths = fieldPaths("Job", 4);
  fc.assert(
    fc.property(fc.constantFrom(...paths), scalar, (path, value) => {
      const json = structuredClone(STORED) as unknown as Record<string, unknown>;
      put(json, path, value);
      judge(json);
    }),
    { numRuns: 800 },
  );
});

function fieldPaths(typeName: string, depth: number): string[][] {
  return (TYPES.get(typeName) ?? []).flatMap(({ name, type, collection }) => {
    const steps = collection === "list" ? [name, "0"] : [name];
    const deeper = depth > 0 && TYPES.has(type) ? fieldPaths(type, depth - 1).map((rest) => [...steps, ...rest]) : [];
    return [[name], ...deeper];
  });
}

function put(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node = root;
  path.slice(0, -1).forEach((step, index) => {
    const next = node[step];
    if (typeof next !== "object" || next === null) node[step] = path[index + 1] === "0" ? [] : {};
    node = node[step] as Record<string, unknown>;
  });
  node[path.at(-1) ?? ""] = value;
}
