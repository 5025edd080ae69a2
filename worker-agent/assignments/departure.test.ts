import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { Departure } from "./departure.ts";

const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none" }] } };
const mirror = (metadata: Job["metadata"] = {}): Job => ({
  metadata: { namespace: "team", name: "pi", uid: "m1", ...metadata },
  spec: { template },
});

function aDeparture(answer: () => Promise<unknown> = async () => undefined) {
  const asked: unknown[] = [];
  const call = async (_: unknown, key: object, options: object): Promise<unknown> => {
    asked.push({ ...key, ...options });
    return answer();
  };
  const api = { delete: call, patch: call } as unknown as KubeApi;
  return { asked, departure: new Departure({ api, clock: new VirtualClock(), retentionMs: 0 }) };
}

it("deletes this mirror, and no other Job that has its name by then", async () => {
  const { asked, departure } = aDeparture();
  await departure.delete(mirror(), "Foreground");
  expect(asked).toEqual([
    { namespace: "team", name: "pi", propagationPolicy: "Foreground", preconditions: { uid: "m1" } },
  ]);
});

it("stops this mirror, and no other Job that has its name by then", async () => {
  const { asked, departure } = aDeparture();
  await departure.stop(mirror());
  expect(asked).toMatchObject([{ body: { metadata: { uid: "m1" }, spec: { suspend: true } } }]);
});

it("leaves one alone that is leaving already, and takes one that is gone for done", async () => {
  const { asked, departure } = aDeparture(() => Promise.reject(new ApiError(404, "NotFound", "gone")));
  await departure.delete(mirror({ deletionTimestamp: "2026-01-01T00:00:00Z" }), "Foreground");
  expect(asked).toEqual([]);
  await expect(departure.delete(mirror(), "Orphan")).resolves.toBeUndefined();
});

it("does not take a conflict for done: the next look decides", async () => {
  const { departure } = aDeparture(() => Promise.reject(new ApiError(409, "Conflict", "another UID")));
  await expect(departure.delete(mirror(), "Foreground")).rejects.toMatchObject({ code: 409 });
});
