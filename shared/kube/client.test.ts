import { expect, test } from "vitest";
import { isAlreadyExists } from "./errors.ts";
import { echo, failure, jobs, json, key, namespaces, pods, served, status } from "./testing/served.ts";

test("requests are what the API server expects", async () => {
  const { client, seen } = await served(echo, { userAgent: "test/1" });
  await client.get(jobs, key);
  await client.list(pods, { namespace: "ns", labelSelector: "a in (b,c)", limit: 5, continue: "t+/=" });
  await client.list(namespaces);
  await client.create(jobs, "ns", { metadata: { name: "a" } }, { fieldManager: "me", dryRun: true });
  await client.replace(jobs, key, { metadata: { name: "a" } }, { subresource: "status" });
  await client.patch(pods, key, { type: "strategic", body: {} });
  await client.patch(pods, key, { type: "merge", body: {} });
  await client.patch(pods, key, { type: "json", body: [] });
  await client.patch(pods, key, { type: "apply", body: {}, fieldManager: "me", force: true });
  await client.delete(pods, key, { propagationPolicy: "Foreground", preconditions: { uid: "u" }, timeoutMs: 5000 });
  expect(seen.map(({ method, url, headers }) => [method, url, headers["content-type"]])).toEqual([
    ["GET", "/apis/batch/v1/namespaces/ns/jobs/a", undefined],
    ["GET", "/api/v1/namespaces/ns/pods?labelSelector=a%20in%20(b%2Cc)&limit=5&continue=t%2B%2F%3D", undefined],
    ["GET", "/api/v1/namespaces", undefined],
    ["POST", "/apis/batch/v1/namespaces/ns/jobs?fieldManager=me&dryRun=All", "application/json"],
    ["PUT", "/apis/batch/v1/namespaces/ns/jobs/a/status", "application/json"],
    ["PATCH", "/api/v1/namespaces/ns/pods/a", "application/strategic-merge-patch+json"],
    ["PATCH", "/api/v1/namespaces/ns/pods/a", "application/merge-patch+json"],
    ["PATCH", "/api/v1/namespaces/ns/pods/a", "application/json-patch+json"],
    ["PATCH", "/api/v1/namespaces/ns/pods/a?fieldManager=me&force=true", "application/apply-patch+yaml"],
    ["DELETE", "/api/v1/namespaces/ns/pods/a", "application/json"],
  ]);
  expect(seen[0]?.headers).toMatchObject({
    authorization: "Bearer t",
    accept: "application/json",
    "user-agent": "test/1",
  });
  expect(JSON.parse(seen.at(-1)?.body ?? "")).toEqual({
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: "Foreground",
    preconditions: { uid: "u" },
  });
});

test("metadata alone is asked for in the words of a list and of everything else", async () => {
  const { client, seen } = await served(echo);
  const metadata = { ...pods, metadataOnly: true } as const;
  await client.get(metadata, key);
  await client.list(metadata);
  expect(seen.map(({ headers }) => headers.accept)).toEqual([
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  ]);
});

test.each(["", ".", "..", "a/b", "%2e"])("the name %j never reaches the server", async (name) => {
  const { client, seen } = await served(echo);
  expect(await failure(client.delete(pods, { namespace: "ns", name }))).toMatchObject({ code: 400 });
  expect(await failure(client.delete(pods, { namespace: name, name: "a" }))).toMatchObject({ code: 400 });
  expect(await failure(client.delete(pods, { name: "a" }))).toMatchObject({ code: 400 });
  expect(seen).toEqual([]);
});

test("many calls share few connections", async () => {
  const { client, seen, sockets } = await served(echo, { connections: { calls: 4, watches: 1 } });
  await Promise.all(Array.from({ length: 100 }, () => client.get(pods, key)));
  expect(seen).toHaveLength(100);
  expect(sockets.size).toBe(4);
});

test("a Status becomes a typed error with its parts", async () => {
  const answer = status(409, "AlreadyExists", { details: { kind: "jobs", name: "a" } });
  const { client, seen } = await served((response) => json(response, 409, answer));
  const error = await failure(client.create(jobs, "ns", { metadata: { name: "a" } }));
  expect(error).toMatchObject({ code: 409, reason: "AlreadyExists", message: "it is AlreadyExists" });
  expect(error.status?.details?.name).toBe("a");
  expect(isAlreadyExists(error)).toBe(true);
  expect(seen).toHaveLength(1);
});

test("a proxy's page becomes a short error", async () => {
  const { client } = await served((response) => response.writeHead(404).end(`<html>${"x".repeat(10_000)}`));
  const error = await failure(client.get(pods, key));
  expect(error).toMatchObject({ code: 404, reason: "NotFound" });
  expect(error.message.length).toBeLessThan(300);
});

test("an answer that is not JSON is an error, not a retry", async () => {
  const { client, seen } = await served((response) => response.writeHead(200).end("hello"));
  expect(await failure(client.get(pods, key))).toMatchObject({ code: 0, reason: "InvalidResponse" });
  expect(seen).toHaveLength(1);
});

test.each([
  ["a Status", { kind: "Status", status: "Success", metadata: {} }, false],
  ["an object without a mark", { kind: "Pod", metadata: {} }, false],
  [
    "the last state of a Pod",
    { kind: "Pod", metadata: { deletionTimestamp: "t", deletionGracePeriodSeconds: 0 } },
    false,
  ],
  ["a Pod that is ending", { kind: "Pod", metadata: { deletionTimestamp: "t", deletionGracePeriodSeconds: 30 } }, true],
  ["finalizers", { kind: "Job", metadata: { deletionTimestamp: "t", finalizers: ["x"] } }, true],
  [
    "a namespace being emptied",
    { kind: "Namespace", metadata: { deletionTimestamp: "t" }, spec: { finalizers: ["kubernetes"] } },
    true,
  ],
])("delete tells from %s whether the object is still there", async (_, answer, stillThere) => {
  const { client } = await served((response) => json(response, 200, answer));
  expect((await client.delete(pods, key)) !== undefined).toBe(stillThere);
});

test("a list that says null has no items", async () => {
  const { client } = await served((response) =>
    json(response, 200, { metadata: { resourceVersion: "1" }, items: null }),
  );
  expect((await client.list(pods)).items).toEqual([]);
});

test("nothing is sent after close", async () => {
  const { client, seen } = await served(echo);
  await client.close();
  expect(await failure(client.get(pods, key))).toMatchObject({ reason: "NotSent" });
  expect(seen).toEqual([]);
});
