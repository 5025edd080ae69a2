import { CONTROLLER_UID_LABEL } from "@jobferry/shared/job/keys.ts";
import { completionIndex, finishTime } from "@jobferry/shared/job/pods.ts";
import { describe, expect, it } from "vitest";
import { matchFailurePolicy } from "./core/pod-failure-policy.ts";
import { isSettled, orphansFor, podIndexValues, trimPod } from "./pod-cache.ts";
import { aJob, aPod } from "./testing/builders.ts";

const job = aJob().build();
const orphan = () => aPod(job).metadata({ ownerReferences: [] });

describe("podIndexValues", () => {
  it.each([
    ["running", aPod(job).phase("Running"), ["live:uid-job", "held-in:ns", "held-of:uid-job"]],
    ["failed and accounted", aPod(job).failed().untracked(), ["live:uid-job"]],
    ["succeeded and accounted", aPod(job).succeeded().untracked(), ["settled:uid-job"]],
    ["orphan", orphan().untracked(), ["orphan-in:ns", "orphan-of:uid-job"]],
    ["orphan without labels", orphan().untracked().metadata({ labels: {} }), ["orphan-in:ns"]],
  ])("%s", (_, pod, want) => expect(podIndexValues(pod.build())).toEqual(want));
});

it("finds orphans by UID for generated selectors, by namespace for others", () => {
  expect(orphansFor(job)).toBe("orphan-of:uid-job");
  expect(
    orphansFor(
      aJob()
        .spec({ selector: { matchLabels: { app: "x" } } })
        .build(),
    ),
  ).toBe("orphan-in:ns");
});

describe("trimPod", () => {
  const full = aPod(job)
    .node("n")
    .index(3)
    .failed({ exitCode: 7, finished: -5 })
    .metadata({ managedFields: [{ large: "x".repeat(1000) }] })
    .build();
  const trimmed = trimPod(full);

  it("keeps everything that a sync asks for", () => {
    const policy = {
      rules: [{ action: "FailJob" as const, onExitCodes: { operator: "In" as const, values: [7] } }],
    };
    const choosy = aJob().spec({ podFailurePolicy: policy }).build();
    expect(matchFailurePolicy(choosy, trimmed)).toEqual(matchFailurePolicy(choosy, full));
    expect(finishTime(trimmed)).toBe(finishTime(full));
    expect(trimmed.spec.nodeName).toBe("n");
    expect(podIndexValues(trimmed)).toEqual(podIndexValues(full));
    const { managedFields: _, ...metadata } = full.metadata;
    expect(trimmed.metadata).toEqual(metadata);
  });

  it("drops containers and managed fields", () => {
    expect(trimmed.spec.containers).toEqual([]);
    expect(trimmed.metadata.managedFields).toBeUndefined();
  });

  it("keeps the index of a success that nobody owns: it may be adopted (AD-4, IX-6)", () => {
    const unowned = trimPod(orphan().index(1).succeeded().untracked().build());
    expect(completionIndex(unowned)).toBe(1);
  });

  it("keeps of an accounted success its labels and owner", () => {
    const settled = trimPod(aPod(job).index(1).succeeded().untracked().build());
    expect(isSettled(settled)).toBe(true);
    expect(settled.metadata.labels).toEqual({ [CONTROLLER_UID_LABEL]: "uid-job" });
    expect(settled.metadata.annotations).toBeUndefined();
    expect(settled.status).toEqual({ phase: "Succeeded" });
  });
});
