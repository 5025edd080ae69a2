import { expect, it } from "vitest";
import type { KubeApi } from "./api.ts";
import { fencedApi } from "./fenced-api.ts";
import { jobs } from "./resources.ts";

function fenced() {
  const asked: string[] = [];
  const handler = {
    get: (_: object, method: string) => async () => {
      asked.push(method);
      return {};
    },
  };
  let isHeld = true;
  const api = fencedApi(new Proxy({}, handler) as KubeApi, () => isHeld);
  const key = { namespace: "ns", name: "j" };
  const object = { metadata: key, spec: { template: {} } };
  const writes: Record<string, () => Promise<unknown>> = {
    create: () => api.create(jobs, "ns", object),
    replace: () => api.replace(jobs, key, object),
    patch: () => api.patch(jobs, key, { type: "merge", body: {} }),
    delete: () => api.delete(jobs, key),
  };
  const reads: Record<string, () => Promise<unknown>> = {
    get: () => api.get(jobs, key),
    list: () => api.list(jobs),
  };
  return { asked, writes, reads, lose: () => (isHeld = false) };
}

it.each(["create", "replace", "patch", "delete"])("sends a %s only while the Lease is held", async (verb) => {
  const { asked, writes, lose } = fenced();
  await writes[verb]?.();
  lose();
  await expect(writes[verb]?.()).rejects.toMatchObject({ code: 0, reason: "NotSent" });
  expect(asked).toEqual([verb]);
});

it.each(["get", "list"])("a %s is always sent", async (verb) => {
  const { asked, reads, lose } = fenced();
  lose();
  await reads[verb]?.();
  expect(asked).toEqual([verb]);
});
