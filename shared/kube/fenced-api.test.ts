import { expect, it } from "vitest";
import type { KubeApi } from "./api.ts";
import { fencedApi } from "./fenced-api.ts";
import { namespaces } from "./resources.ts";

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
  const object = { metadata: key };
  const writes: Record<string, () => Promise<unknown>> = {
    create: () => api.create(namespaces, "ns", object),
    replace: () => api.replace(namespaces, key, object),
    patch: () => api.patch(namespaces, key, { type: "merge", body: {} }),
    delete: () => api.delete(namespaces, key),
  };
  const reads: Record<string, () => Promise<unknown>> = {
    get: () => api.get(namespaces, key),
    list: () => api.list(namespaces),
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
