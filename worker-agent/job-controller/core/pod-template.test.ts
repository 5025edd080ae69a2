import { COMPLETION_INDEX, COMPLETION_INDEX_ENV, TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import { describe, expect, it } from "vitest";
import { aJob } from "../testing/builders.ts";
import { indexedNamePrefix, podFor, podForIndex } from "./pod-template.ts";

const template = {
  metadata: {
    name: "ignored",
    generateName: "ignored-",
    labels: { app: "x" },
    annotations: { note: "y" },
    finalizers: ["a/b"],
    ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x", uid: "x" }],
  },
  spec: { containers: [{ name: "main" }], restartPolicy: "Never", subdomain: "s", hostname: "h" },
};
const env = { name: COMPLETION_INDEX_ENV, valueFrom: expect.anything() };

describe("podFor", () => {
  const pod = podFor(aJob().spec({ template }).build());

  it("PC-1 to PC-4 copies the template, except its identity and owners", () =>
    expect(pod.metadata).toEqual({
      generateName: "job-",
      namespace: "ns",
      labels: { app: "x" },
      annotations: { note: "y" },
      finalizers: ["a/b", TRACKING_FINALIZER],
      ownerReferences: [
        {
          apiVersion: "batch/v1",
          kind: "Job",
          name: "job",
          uid: "uid-job",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    }));

  it("PC-10 leaves the spec of a NonIndexed pod alone", () => expect(pod.spec).toEqual(template.spec));

  it("PC-3 does not add the finalizer twice", () => {
    const tracked = { ...template, metadata: { ...template.metadata, finalizers: [TRACKING_FINALIZER] } };
    expect(podFor(aJob().spec({ template: tracked }).build()).metadata.finalizers).toEqual([TRACKING_FINALIZER]);
  });

  it("PC-4 leaves out the dash when there is no room for it", () =>
    expect(podFor(aJob("j".repeat(253)).build()).metadata.generateName).toBe("j".repeat(253)));

  it("PC-11 refuses a template without labels", () =>
    expect(() =>
      podFor(
        aJob()
          .spec({ template: { spec: template.spec } })
          .build(),
      ),
    ).toThrow("no labels"));
});

describe("podForIndex", () => {
  const job = aJob().indexed(9).spec({ template }).build();
  const pod = podForIndex(job, podFor(job), 7, undefined);

  it("PC-5 to PC-7 names the index everywhere", () => {
    expect(pod.metadata.generateName).toBe("job-7-");
    expect(pod.metadata.labels).toEqual({ app: "x", [COMPLETION_INDEX]: "7" });
    expect(pod.metadata.annotations).toEqual({ note: "y", [COMPLETION_INDEX]: "7" });
    expect(pod.spec).toMatchObject({ hostname: "job-7", subdomain: "s" });
  });

  it("PC-8 adds the variable to every container that does not define it", () => {
    const own = { name: COMPLETION_INDEX_ENV, value: "mine" };
    const spec = {
      containers: [
        { name: "a", env: [{ name: "X", value: "1" }] },
        { name: "b", env: [own] },
      ],
      initContainers: [{ name: "i" }],
    };
    const indexed = aJob()
      .indexed(1)
      .spec({ template: { ...template, spec } })
      .build();
    const built = podFor(indexed).spec;
    expect(built.containers.map((container) => container.env)).toEqual([[{ name: "X", value: "1" }, env], [own]]);
    expect(built.initContainers?.map((container) => container.env)).toEqual([[env]]);
  });

  it("PC-8 points at the label", () =>
    expect(podFor(job).spec.containers[0]?.env?.[0]?.valueFrom).toEqual({
      fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" },
    }));

  it("PC-9 counts failures only with backoffLimitPerIndex", () => {
    const perIndex = aJob().indexed(9).spec({ template, backoffLimitPerIndex: 1 }).build();
    const key = "batch.kubernetes.io/job-index-failure-count";
    expect(podForIndex(perIndex, podFor(perIndex), 7, undefined).metadata.annotations?.[key]).toBe("0");
    expect(pod.metadata.annotations?.[key]).toBeUndefined();
  });
});

it.each([
  ["job", 0, "job-0-"],
  ["j".repeat(55), 7, `${"j".repeat(55)}-7-`],
  ["j".repeat(63), 12, `${"j".repeat(54)}-12-`],
])("PC-5 %s, index %i", (name, index, want) => {
  expect(indexedNamePrefix(name, index)).toBe(want);
  expect(want.length).toBeLessThanOrEqual(58);
});
