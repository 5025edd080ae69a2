/** Whatever JSON arrives is decoded or refused; whatever was decoded is judged. Nothing throws. */

import type { Job } from "@jobferry/shared/job/types.ts";
import { formatFieldError, toStatusCause } from "@jobferry/shared/job/validation/errors.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DecodeError } from "../../schema/decode.ts";
import { type FieldType, kindSchema, type Scalar } from "../../schema/schema.ts";
import { decodeJob, decodePod } from "../decode.ts";
import { defaultJob } from "../defaulting/job.ts";
import { defaultPod } from "../defaulting/pod.ts";
import { asStored, prepareJobForCreate } from "../job-strategy.ts";
import { validateJobCreate, validateJobStatusWrite, validateJobUpdate } from "./job.ts";
import { validatePodCreate } from "./pod-template.ts";

const STORED: Job = prepareJobForCreate(
  defaultJob({
    metadata: { name: "a", namespace: "b", uid: "c", resourceVersion: "1" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x", resources: {} }] } } },
  }),
);

/** Undefined for JSON that is refused, which must be said in words. */
function decodable<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    expect(error.message).not.toBe("");
    return undefined;
  }
}

function judge(json: unknown): void {
  const decoded = decodable(() => decodeJob(json));
  if (decoded === undefined) return;
  const job = defaultJob(decoded);
  const prepared = prepareJobForCreate(job);
  const errors = [
    ...validateJobCreate(prepared),
    ...validateJobUpdate(STORED, job),
    ...validateJobUpdate(prepared, job),
    ...validateJobStatusWrite(STORED, { ...job, spec: STORED.spec }),
    ...validateJobStatusWrite(job, { ...STORED, spec: job.spec }),
  ];
  for (const error of errors) expect(toStatusCause(error).message + formatFieldError(error)).not.toBe("");
  asStored(prepared);
}

const scalar = fc.oneof(
  fc.constantFrom(null, "", "x", "Never", "Indexed", "True", "0-2", "1Gi", "2026-01-01T00:00:00Z", true, false),
  fc.integer({ min: -3, max: 100_002 }),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Mostly well-shaped objects of a kind, so that validation is reached, with anything in their fields. */
function shaped(kind: string, depth: number): fc.Arbitrary<unknown> {
  const model = Object.fromEntries([...kindSchema(kind)].map(([name, type]) => [name, fitting(type, depth)]));
  return fc.record(model, { requiredKeys: [] });
}

function fitting(type: FieldType, depth: number): fc.Arbitrary<unknown> {
  switch (type.tag) {
    case "list":
      return fc.array(fitting(type.items, depth), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.constantFrom("a", "cpu", "bad key"), fitting(type.values, depth), { maxKeys: 2 });
    case "kind":
      return depth > 0 ? shaped(type.kind, depth - 1) : rarely(fc.constant({}));
    case "scalar":
      return rarely(usual(type.scalar));
  }
}

/** Not what belongs there. */
const rarely = (other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 400, arbitrary: other }, { weight: 1, arbitrary: scalar });

function usual(type: Scalar): fc.Arbitrary<unknown> {
  switch (type) {
    case "string":
      return fc.constantFrom("", "a", "A b", "Never", "Indexed", "FailIndex", "In", "0,1", "x.io/y", "metadata.name");
    case "bool":
      return fc.boolean();
    case "int32":
    case "int64":
      return fc.integer({ min: -2, max: 100_002 });
    case "intOrString":
      return fc.constantFrom(0, 80, "http", "");
    case "quantity":
      return fc.constantFrom("1", "-1", "500m", "1Gi", 2);
    case "time":
      return fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z");
    default:
      return fc.constant({});
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
      if (decodable(() => decodeJob(json)) !== undefined) judged++;
      judge(json);
    }),
    { numRuns: 150 },
  );
  expect(judged).toBeGreaterThan(30);
});

test("shaped pods with arbitrary fields", () => {
  fc.assert(
    fc.property(shaped("PodSpec", 2), (spec) => {
      const pod = decodable(() => decodePod({ metadata: { name: "a" }, spec }));
      if (pod !== undefined) for (const error of validatePodCreate(defaultPod(pod))) toStatusCause(error);
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

function fieldPaths(kind: string, depth: number): string[][] {
  return [...kindSchema(kind)].flatMap(([name, type]) => {
    const steps = type.tag === "list" ? [name, "0"] : [name];
    const part = type.tag === "list" ? type.items : type;
    const deeper = depth > 0 && part.tag === "kind" ? fieldPaths(part.kind, depth - 1) : [];
    return [[name], ...deeper.map((rest) => [...steps, ...rest])];
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
