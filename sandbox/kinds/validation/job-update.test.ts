import type { Job } from "@jobferry/shared/job/types.ts";
import { describe, expect, test } from "vitest";
import { prepareJobForCreate } from "../job-strategy.ts";
import { validateJobStatusWrite, validateJobUpdate } from "./job.ts";
import { complaints, container, decodedJob, indexed, perIndex, podSpec } from "./testing/job-cases.ts";

describe("update (section 28)", () => {
  const pod = (fields: object) => ({ template: { spec: { ...podSpec, ...fields } } });
  const suspended = { suspend: true };
  const startTime = "2026-01-01T00:00:00Z";
  const isSuspended = [{ type: "Suspended", status: "True" }];
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] };
  interface Case {
    id: string;
    before?: object;
    status?: object;
    after: object;
    want?: string[];
  }
  const cases: Case[] = [
    { id: "VU-2", after: { completions: 2 }, want: ["spec.completions Invalid"] },
    { id: "VU-3", before: indexed, after: { ...indexed, completions: 5, parallelism: 5 } },
    { id: "VU-3", before: indexed, after: { ...indexed, completions: 5 }, want: ["spec.completions Invalid"] },
    { id: "VU-3", before: indexed, after: { ...indexed, parallelism: 1 } },
    { id: "VU-4", after: { managedBy: "x.io/y" }, want: ["spec.managedBy Invalid"] },
    { id: "VU-4", after: { podFailurePolicy: { rules: [] } }, want: ["spec.podFailurePolicy Invalid"] },
    { id: "VU-4", before: indexed, after: perIndex, want: ["spec.backoffLimitPerIndex Invalid"] },
    {
      id: "VU-4",
      before: indexed,
      after: { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } },
      want: ["spec.successPolicy Invalid"],
    },
    { id: "VU-4", after: indexed, want: ["spec.completionMode Invalid"] },
    {
      id: "VU-5",
      after: {
        completions: 1,
        parallelism: 7,
        activeDeadlineSeconds: 1,
        backoffLimit: 1,
        ttlSecondsAfterFinished: 1,
        suspend: true,
        podReplacementPolicy: "Failed",
      },
    },
    { id: "VU-6", after: pod({ nodeSelector: { a: "b" } }), want: ["spec.template Invalid"] },
    {
      id: "VU-8",
      before: suspended,
      after: {
        ...suspended,
        ...pod({ nodeSelector: { a: "b" }, tolerations: [{ operator: "Exists" }], schedulingGates: [{ name: "x" }] }),
      },
    },
    { id: "VU-8", before: suspended, after: { ...suspended, ...pod({ affinity: { nodeAffinity } }) } },
    { id: "VU-8", before: { ...suspended, ...pod({ affinity: { nodeAffinity } }) }, after: suspended },
    {
      id: "VU-8",
      before: suspended,
      after: { ...suspended, ...pod({ containers: [{ ...container, resources: { limits: { cpu: "1" } } }] }) },
    },
    {
      id: "VU-9",
      before: suspended,
      after: { ...suspended, ...pod({ affinity: { podAffinity: {} } }) },
      want: ["spec.template.spec Invalid"],
    },
    {
      id: "VU-9",
      before: suspended,
      after: { ...suspended, ...pod({ containers: [{ ...container, image: "other" }] }) },
      want: ["spec.template.spec Invalid"],
    },
    {
      id: "VU-9",
      before: suspended,
      after: { ...suspended, ...pod({ containers: [container, { name: "d", image: "x" }] }) },
      want: ["spec.template.spec Invalid"],
    },
    {
      id: "VU-10",
      status: { startTime, conditions: isSuspended },
      after: pod({ nodeSelector: { a: "b" } }),
      want: ["spec.template Invalid"],
    },
    {
      id: "VU-10",
      before: suspended,
      status: { active: 1 },
      after: { ...suspended, ...pod({ nodeSelector: { a: "b" } }) },
      want: ["spec.template Invalid"],
    },
    {
      id: "VU-7",
      before: suspended,
      status: { startTime },
      after: { ...suspended, ...pod({ nodeSelector: { a: "b" } }) },
      want: ["spec.template Invalid"],
    },
    {
      id: "VU-7",
      before: suspended,
      status: { startTime, conditions: isSuspended },
      after: { ...suspended, ...pod({ nodeSelector: { a: "b" } }) },
    },
    { id: "VU-11", before: suspended, after: pod({ nodeSelector: { a: "b" } }) },
  ];
  /** Generated parts are the stored Job's: clients send them back. */
  const updateErrors = ({ before = {}, status = {}, after }: Case): string[] => {
    const stored: Job = { ...prepareJobForCreate(decodedJob(before)), status };
    const sent = prepareJobForCreate(decodedJob(after));
    return complaints(validateJobUpdate(stored, { ...sent, status }));
  };
  test.each(cases)("$id $after", (each) => {
    expect(updateErrors(each)).toEqual(each.want ?? []);
  });

  test("VU-1: rules for new Jobs hold and are reported twice", () => {
    expect(updateErrors({ id: "", after: { backoffLimit: -1 } })).toEqual([
      "spec.backoffLimit Invalid",
      "spec.backoffLimit Invalid",
    ]);
  });

  test("VU-1: prefixed labels are only required if the stored template has both", () => {
    const strip = (job: Job): Job => {
      const labels = { "controller-uid": "u1", "job-name": "pi" };
      const selector = { matchLabels: { "controller-uid": "u1" } };
      return { ...job, spec: { ...job.spec, selector, template: { ...job.spec.template, metadata: { labels } } } };
    };
    const old = strip(prepareJobForCreate(decodedJob({})));
    expect(complaints(validateJobUpdate(old, old))).toEqual([]);
  });

  test("MU: metadata that must not change", () => {
    const stored = prepareJobForCreate(decodedJob({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
    const sent = prepareJobForCreate(
      decodedJob(
        {},
        {
          uid: "u1",
          name: "pi",
          resourceVersion: null,
          finalizers: ["x.io/f"],
          creationTimestamp: "2020-01-01T00:00:00Z",
        },
      ),
    );
    expect(complaints(validateJobUpdate(stored, sent))).toEqual([
      "metadata.creationTimestamp Invalid",
      "metadata.deletionTimestamp Invalid",
      "metadata.finalizers Forbidden",
      "metadata.resourceVersion Invalid",
    ]);
  });
});

test("VS-1: metadata rules hold for status writes", () => {
  const stored = prepareJobForCreate(decodedJob({}));
  const sent = { ...stored, metadata: { ...stored.metadata, labels: { a: "bad value" } } };
  expect(complaints(validateJobStatusWrite(stored, sent))).toEqual(["metadata.labels Invalid"]);
});
