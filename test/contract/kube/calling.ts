import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClusterAccess, findAccess } from "@jobferry/shared/kube/access.ts";
import { isAlreadyExists, isOutcomeUnknown } from "@jobferry/shared/kube/errors.ts";
import { afterEach, describe, expect, test } from "vitest";
import { configMapResource as configMaps } from "../resources.ts";
import type { FlakyCluster } from "./subject.ts";

/** The way that a kubeconfig with this user names. */
function accessOf(user: object, folder: string): Promise<ClusterAccess> {
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1" } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return findAccess({ kubeconfig });
}

/** What single calls must survive, whatever the server is. */
export function calling(subject: FlakyCluster): void {
  afterEach(() => subject.proxy.restore());

  const caught = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => Promise.reject(new Error("it succeeded")),
      (error: unknown) => error,
    );

  describe("a call", () => {
    test("is repeated on a new connection when the old one breaks", async () => {
      const namespace = await subject.newNamespace();
      const { client } = subject.client();
      for (let round = 0; round < 5; round++) {
        await client.create(configMaps, namespace, { metadata: { name: `cm-${round}` } });
        subject.proxy.cut();
      }
      expect((await client.list(configMaps, { namespace })).items.length).toBeGreaterThanOrEqual(5);
    });

    test("that was carried out but not answered shows up as a conflict of names when repeated", async () => {
      const namespace = await subject.newNamespace();
      const { client, sent } = subject.client({ connections: { calls: 1, watches: 1 } });
      await client.list(configMaps, { namespace });
      subject.proxy.dropAnswers();
      const error = await caught(client.create(configMaps, namespace, { metadata: { name: "once" } }));
      expect(isAlreadyExists(error)).toBe(true);
      expect(sent.filter(({ method }) => method === "POST").map(({ code }) => code)).toEqual([0, 409]);
    });

    test("with generateName is not repeated when nobody knows whether it was carried out", async () => {
      const namespace = await subject.newNamespace();
      const { client, sent } = subject.client({ connections: { calls: 1, watches: 1 } });
      await client.list(configMaps, { namespace });
      subject.proxy.dropAnswers();
      const error = await caught(client.create(configMaps, namespace, { metadata: { generateName: "cm-" } }));
      expect(isOutcomeUnknown(error)).toBe(true);
      expect(sent.filter(({ method }) => method === "POST")).toHaveLength(1);
      const { items } = await subject.direct.list(configMaps, { namespace, labelSelector: "" });
      expect(items.filter(({ metadata }) => metadata.generateName === "cm-")).toHaveLength(1);
    });

    test("to a server that has gone away fails as not sent, and works when it is back", async () => {
      const namespace = await subject.newNamespace();
      const { client } = subject.client({ maxRetries: 1 });
      await subject.restart(async () => {
        const error = await caught(client.create(configMaps, namespace, { metadata: { generateName: "cm-" } }));
        expect(error).toMatchObject({ code: 0, reason: "NotSent" });
      });
      await client.create(configMaps, namespace, { metadata: { name: "a" } });
    });

    test("to a server that hangs ends at its deadline, and the next one works", async () => {
      const namespace = await subject.newNamespace();
      const { client } = subject.client({ connections: { calls: 1, watches: 1 } });
      await client.list(configMaps, { namespace });
      subject.proxy.freeze();
      expect(await caught(client.list(configMaps, { namespace, timeoutMs: 500 }))).toMatchObject({
        code: 0,
        reason: "Timeout",
      });
      await client.list(configMaps, { namespace });
    });

    test("to a slow server is answered late, within its deadline", async () => {
      const namespace = await subject.newNamespace();
      const { client } = subject.client();
      subject.proxy.slowDown(300);
      await client.list(configMaps, { namespace });
    });

    test("with an expired token fails as unauthorised until the file is renewed, then works at once", async () => {
      const dir = mkdtempSync(join(tmpdir(), "jobferry-token-"));
      const path = join(dir, "token");
      writeFileSync(path, "expired");
      const access = subject.access();
      const { headers } = await access.credentials.current();
      const { credentials } = await accessOf({ tokenFile: "token" }, dir);
      const { client } = subject.client({}, { ...access, credentials });
      expect(await caught(client.list(configMaps))).toMatchObject({ code: 401 });
      const watch = client.watch(configMaps, { resourceVersion: "0", timeoutSeconds: 1 });
      expect(await caught(watch[Symbol.asyncIterator]().next())).toMatchObject({ code: 401 });
      writeFileSync(path, String(headers.authorization).replace("Bearer ", ""));
      await client.list(configMaps);
      rmSync(dir, { recursive: true });
    });

    test("goes over a bounded number of connections", async () => {
      const namespace = await subject.newNamespace();
      const { client } = subject.client({ connections: { calls: 5, watches: 1 } });
      const before = subject.proxy.accepted;
      await Promise.all(Array.from({ length: 200 }, () => client.list(configMaps, { namespace })));
      expect(subject.proxy.accepted - before).toBeLessThanOrEqual(5);
    });
  });
}
