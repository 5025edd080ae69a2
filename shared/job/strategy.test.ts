import { describe, expect, test } from "vitest";
import { prepareJobForCreate, prepareJobForStatusUpdate, prepareJobForUpdate } from "./strategy.ts";
import type { Job, JobSpec, LabelSelector, ObjectMeta } from "./types.ts";

const job = (spec: Partial<JobSpec> = {}, rest: Partial<Job> = {}): Job => ({
  metadata: { name: "pi", uid: "u1", generation: 3 },
  spec: { template: { spec: { containers: [] } }, manualSelector: false, ...spec },
  ...rest,
});

describe("create (AP-2, AP-3)", () => {
  test("wipes the status and starts at generation 1", () => {
    const prepared = prepareJobForCreate(job({}, { status: { active: 1 } }));
    expect(prepared.status).toEqual({});
    expect(prepared.metadata.generation).toBe(1);
  });

  const generated = {
    "controller-uid": "u1",
    "batch.kubernetes.io/controller-uid": "u1",
    "job-name": "pi",
    "batch.kubernetes.io/job-name": "pi",
  };
  const cases: [string, ObjectMeta | undefined, LabelSelector | undefined, object, LabelSelector][] = [
    ["nothing given", undefined, undefined, generated, { matchLabels: { "batch.kubernetes.io/controller-uid": "u1" } }],
    [
      "user labels stay, even wrong ones",
      { labels: { app: "x", "job-name": "wrong" } },
      undefined,
      { ...generated, app: "x", "job-name": "wrong" },
      { matchLabels: { "batch.kubernetes.io/controller-uid": "u1" } },
    ],
    [
      "user selector entries stay",
      undefined,
      { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "Exists" }] },
      generated,
      {
        matchLabels: { "batch.kubernetes.io/controller-uid": "u1", a: "b" },
        matchExpressions: [{ key: "c", operator: "Exists" }],
      },
    ],
  ];
  test.each(cases)("selector: %s", (_name, metadata, selector, labels, wantSelector) => {
    const given = job({
      template: { ...(metadata && { metadata }), spec: { containers: [] } },
      ...(selector && { selector }),
    });
    const { spec } = prepareJobForCreate(given);
    expect(spec.template.metadata?.labels).toEqual(labels);
    expect(spec.selector).toEqual(wantSelector);
  });

  test("a manual selector is left alone", () => {
    const given = job({ manualSelector: true, selector: { matchLabels: { a: "b" } } });
    expect(prepareJobForCreate(given).spec).toEqual(given.spec);
  });
});

describe("update (AP-4)", () => {
  const stored = job({ parallelism: 1 }, { status: { active: 1 } });

  test("keeps the stored status", () => {
    expect(prepareJobForUpdate(stored, job({ parallelism: 1 }, { status: { active: 9 } })).status).toEqual({
      active: 1,
    });
  });

  test("counts a changed spec, and only that", () => {
    expect(prepareJobForUpdate(stored, job({ parallelism: 2 })).metadata.generation).toBe(4);
    const relabelled = job({ parallelism: 1 }, { metadata: { ...stored.metadata, labels: { a: "b" } } });
    expect(prepareJobForUpdate(stored, relabelled).metadata).toEqual(relabelled.metadata);
  });
});

test("a status update keeps the stored spec and takes metadata along (AP-5, SW-6)", () => {
  const stored = job({ parallelism: 1 });
  const proposed = job({ parallelism: 5 }, { metadata: { labels: { a: "b" }, generation: 9 }, status: { active: 2 } });
  expect(prepareJobForStatusUpdate(stored, proposed)).toEqual({
    ...proposed,
    metadata: { labels: { a: "b" }, generation: 3 },
    spec: stored.spec,
  });
});
