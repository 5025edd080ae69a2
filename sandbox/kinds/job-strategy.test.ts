import type { Job, JobSpec, LabelSelector, ObjectMeta } from "@jobferry/shared/job/types.ts";
import { describe, expect, test } from "vitest";
import { asStored, prepareJobForCreate } from "./job-strategy.ts";

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

  test("labels taken over from the template get the generated ones, too", () => {
    const labels = { app: "x" };
    const given = job({ template: { metadata: { labels }, spec: { containers: [] } } });
    const inherited = prepareJobForCreate({ ...given, metadata: { ...given.metadata, labels } });
    expect(inherited.metadata.labels).toEqual({ ...generated, app: "x" });
    const own = prepareJobForCreate({ ...given, metadata: { ...given.metadata, labels: { app: "x" } } });
    expect(own.metadata.labels).toEqual({ app: "x" });
    expect(prepareJobForCreate(job()).metadata).not.toHaveProperty("labels");
  });

  test("a manual selector is left alone", () => {
    const given = job({ manualSelector: true, selector: { matchLabels: { a: "b" } } });
    expect(prepareJobForCreate(given).spec).toEqual(given.spec);
  });
});

describe("as later reads show it", () => {
  test("a Job without labels has those of its template", () => {
    const prepared = prepareJobForCreate(job());
    expect(asStored(prepared).metadata.labels).toEqual(prepared.spec.template.metadata?.labels);
    const labelled = prepareJobForCreate(job({}, { metadata: { name: "pi", uid: "u1", labels: { a: "b" } } }));
    expect(asStored(labelled).metadata.labels).toEqual({ a: "b" });
  });

  test("times have whole seconds (SW-9)", () => {
    const condition = { type: "Suspended", status: "True", lastProbeTime: "2026-01-01T00:00:00.5Z" } as const;
    const given = job({}, { status: { startTime: "2026-01-01T00:00:01.9Z", conditions: [condition] } });
    expect(asStored(given).status).toEqual({
      startTime: "2026-01-01T00:00:01Z",
      conditions: [{ ...condition, lastProbeTime: "2026-01-01T00:00:00Z" }],
    });
  });
});
