import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ListOptions } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { EPOCH, HUB_UID_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import { expect, it } from "vitest";
import { MirrorPods } from "./mirror-pods.ts";

const ref = { uid: hubUid.parse("hub-1"), epoch: epoch.parse(2) };
const mirror = {
  metadata: {
    ...{ namespace: "team", name: "pi", uid: "mirror-1", labels: { [HUB_UID_LABEL]: "hub-1" } },
    annotations: { [EPOCH]: "2" },
  },
  spec: { template: { spec: { containers: [] } } },
} as Job;

const aPod = (name: string, owner = "mirror-1", index?: number): Pod => ({
  metadata: {
    ...{ namespace: "team", name, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" },
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "pi", uid: owner, controller: true }],
    ...(index === undefined
      ? {}
      : { annotations: { "batch.kubernetes.io/job-completion-index": String(index), a: "b" } }),
  },
  spec: { containers: [{ name: "main", image: "secret" }] },
  status: { phase: "Running", message: "not told" },
});

function podsOf(...pages: Pod[][]): { pods: MirrorPods; asked: ListOptions[] } {
  const asked: ListOptions[] = [];
  const api = {
    get: async (_: unknown, { name }: { name: string }) => {
      const found = pages.flat().find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new ApiError(404, "NotFound", "not found");
      return found;
    },
    list: async (_: unknown, options: ListOptions) => {
      asked.push(options);
      const at = Number(options.continue ?? 0);
      const metadata = { resourceVersion: "1", ...(at + 1 < pages.length ? { continue: String(at + 1) } : {}) };
      return { items: pages[at] ?? [], metadata };
    },
  } as unknown as KubeApi;
  return { pods: new MirrorPods(api, { of: (uid) => (uid === ref.uid ? [mirror] : []) }), asked };
}

const lines = async (pods: MirrorPods): Promise<unknown[]> => {
  const text = Buffer.from((await pods.list(ref)) ?? []).toString();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
};

it("tells of every pod of the mirror what it takes to choose one, page by page", async () => {
  const { pods, asked } = podsOf([aPod("a", "mirror-1", 0)], [aPod("b"), aPod("c", "somebody")]);
  expect(await lines(pods)).toEqual([
    {
      metadata: {
        ...{ name: "a", uid: "uid-a", creationTimestamp: "2026-01-01T00:00:00Z" },
        annotations: { "batch.kubernetes.io/job-completion-index": "0" },
      },
      spec: { containers: [{ name: "main" }] },
      status: { phase: "Running" },
    },
    expect.objectContaining({ metadata: expect.objectContaining({ name: "b" }) }),
  ]);
  expect(asked[0]).toMatchObject({ namespace: "team", labelSelector: "batch.kubernetes.io/controller-uid=mirror-1" });
});

it("finds a pod by name and UID, in the epoch of its mirror, and nobody else's", async () => {
  const { pods } = podsOf([aPod("a"), aPod("other", "somebody")]);
  expect(await pods.find(ref, { name: "a", uid: "uid-a" })).toEqual({ namespace: "team", name: "a" });
  expect(await pods.find(ref, { name: "a", uid: "uid-of-another" })).toBeUndefined();
  expect(await pods.find(ref, { name: "other", uid: "uid-other" })).toBeUndefined();
  expect(await pods.find(ref, { name: "gone", uid: "uid-gone" })).toBeUndefined();
  expect(await pods.find({ ...ref, epoch: epoch.parse(3) }, { name: "a", uid: "uid-a" })).toBeUndefined();
  expect(await pods.list({ ...ref, epoch: epoch.parse(3) })).toBeUndefined();
});
