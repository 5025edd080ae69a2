import { expect, it } from "vitest";
import { aJob, aPod } from "../testing/builders.ts";
import { isOrphanToRelease } from "./orphan.ts";

const job = aJob().build();
const finished = aJob()
  .status({ conditions: [{ type: "Failed", status: "True" }] })
  .build();
const external = aJob()
  .spec({ managedBy: "example.com/x" })
  .status(finished.status ?? {})
  .build();
const owned = aPod(job).build();
const reference = { name: "x", uid: "x", controller: true };
const ownedBy = (apiVersion: string, kind: string, controller = true) =>
  aPod(job)
    .metadata({ ownerReferences: [{ apiVersion, kind, ...reference, controller }] })
    .build();

it.each([
  ["no finalizer", aPod(job).untracked().metadata({ ownerReferences: [] }).build(), undefined, false],
  ["no owner", aPod(job).metadata({ ownerReferences: [] }).build(), undefined, true],
  ["owner that is not the controller", ownedBy("batch/v1", "Job", false), undefined, true],
  ["owner of another kind", ownedBy("apps/v1", "ReplicaSet"), undefined, false],
  ["Job of another version", ownedBy("batch/v2", "Job"), undefined, false],
  ["owner is missing or another Job now", owned, undefined, true],
  ["owner runs", owned, job, false],
  ["owner is finished", owned, finished, true],
  ["CL-11 owner is external, even if finished", owned, external, false],
])("OR-2 %s", (_, pod, owner, want) => expect(isOrphanToRelease(pod, owner, "unmanaged")).toBe(want));
