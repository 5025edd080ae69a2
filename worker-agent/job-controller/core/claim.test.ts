import { TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod, at } from "../testing/builders.ts";
import { adoptionPatch, asAdopted, planClaim, refusesAdoption, releasePatch } from "./claim.ts";

const job = aJob().build();
const deleted = aJob().deleting().build();
const stranger = { labels: { app: "other" } };
const orphan = () => aPod(job).metadata({ ownerReferences: [] }).untracked();

describe("planClaim", () => {
  it("AD-2 claims owned pods that match, also while the Job is being deleted", () => {
    const pod = aPod(job).build();
    expect(planClaim(job, [pod], [])).toEqual({ claimed: [pod], adopt: [], release: [] });
    expect(planClaim(deleted, [pod], [])).toEqual({ claimed: [pod], adopt: [], release: [] });
  });

  it("AD-3 releases owned pods that do not match, unless the Job is being deleted", () => {
    const pod = aPod(job).metadata(stranger).build();
    expect(planClaim(job, [pod], [])).toEqual({ claimed: [], adopt: [], release: [pod] });
    expect(planClaim(deleted, [pod], [])).toEqual({ claimed: [], adopt: [], release: [] });
  });

  it("AD-4 adopts matching orphans, unless Job or pod is being deleted", () => {
    const pod = orphan().build();
    expect(planClaim(job, [], [pod]).adopt).toEqual([pod]);
    expect(planClaim(deleted, [], [pod]).adopt).toEqual([]);
    expect(planClaim(job, [], [orphan().deleting().build()]).adopt).toEqual([]);
    expect(planClaim(job, [], [orphan().metadata(stranger).build()]).adopt).toEqual([]);
  });

  it("AD-8 refuses a selector that does not parse", () => {
    const broken = aJob()
      .spec({ selector: { matchExpressions: [{ key: "a", operator: "In", values: [] }] } })
      .build();
    expect(() => planClaim(broken, [], [])).toThrow("spec.selector");
  });
});

it.each([
  ["AD-5 same Job", job, undefined],
  ["AD-5 replaced", { ...job, metadata: { ...job.metadata, uid: "another" } }, "replaced"],
  ["AD-5 being deleted", { ...job, metadata: { ...job.metadata, deletionTimestamp: at(0) } }, "deleted"],
])("%s", (_, live, want) => {
  const reason = refusesAdoption(job, live);
  if (want === undefined) expect(reason).toBeUndefined();
  else expect(reason).toContain(want);
});

it("AD-4 adopts with owner reference and finalizer in one patch that asserts the UID", () => {
  const pod = orphan().build();
  expect(adoptionPatch(job, pod)).toEqual({
    metadata: {
      uid: pod.metadata.uid,
      finalizers: [TRACKING_FINALIZER],
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
    },
  });
});

it("AD-3 releases owner reference and finalizer in one patch that asserts the UID", () => {
  const pod = aPod(job).build();
  expect(releasePatch(job, pod)).toEqual({
    metadata: {
      uid: pod.metadata.uid,
      ownerReferences: [{ $patch: "delete", uid: "uid-job" }],
      "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER],
    },
  });
});

it("AD-7 treats an adopted pod as tracked and keeps its other finalizers", () => {
  const pod = orphan()
    .metadata({ finalizers: ["a/b"] })
    .build();
  expect(asAdopted(job, pod).metadata.finalizers).toEqual(["a/b", TRACKING_FINALIZER]);
  expect(asAdopted(job, aPod(job).build()).metadata.finalizers).toEqual([TRACKING_FINALIZER]);
});
