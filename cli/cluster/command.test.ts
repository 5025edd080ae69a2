/** `jobferry cluster ...` on a sandbox hub. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { addCluster, forgetCluster } from "./actions.ts";
import { runCluster } from "./command.ts";

const resource = (group: string, plural: string, kind: string, namespaced: boolean): Resource => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced,
});
const crds = resource("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false);
const secrets = resource("", "secrets", "Secret", true);
const namespaces = resource("", "namespaces", "Namespace", false);

const directory = mkdtempSync(join(tmpdir(), "jobferry-cluster-"));
const kubeconfig = join(directory, "kubeconfig");
const hub = new SandboxCluster({ name: "hub", seed: 1 });
const redisUrl = "redis://redis:6379";
const managerKey = generateKeyPair().publicKey.text;

beforeAll(async () => {
  await hub.start();
  const definition = readFileSync(new URL("../../deploy/crds/workerclusters.yaml", import.meta.url), "utf8");
  await hub.api.create(crds, undefined, parse(definition) as KubeObject);
  await hub.api.create(namespaces, undefined, { metadata: { name: "jobferry-system" } });
  writeFileSync(kubeconfig, (await hub.serve()).kubeconfig);
});
afterAll(async () => {
  await hub.stop();
  rmSync(directory, { recursive: true });
});

async function jobferry(verb: "add" | "forget", name: string, flags: Record<string, unknown>): Promise<string> {
  const lines: string[] = [];
  await runCluster(verb, name, { flags: { kubeconfig, ...flags }, env: {} }, (line) => void lines.push(line));
  return lines.join("\n");
}
const get = (name: string) => hub.api.get(workerClusters, { name });

it("add --file: the private key goes to a new file for its owner alone, and nowhere else", async () => {
  const file = join(directory, "east.yaml");
  const said = await jobferry("add", "east", { redisUrl, managerKey, file, labels: "zone=eu" });
  expect(said).toBe(`cluster east is enrolled; ${file} says what to do in Redis and on the worker`);
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(
    /^# 1\. In Redis: {2}ACL SETUSER jobferry-east .*\n# 2\. .* ACL SAVE\n# 3\. .*apply deploy\/worker and then/,
  );
  expect(parse(text)).toMatchObject({ kind: "Secret", stringData: { cluster: "east", "manager-key": managerKey } });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await get("east")).metadata.labels).toEqual({ zone: "eu" });
});

it("add --file --output json: says where the private key is, not what it is", async () => {
  const file = join(directory, "south.json");
  const said = JSON.parse(await jobferry("add", "south", { redisUrl, managerKey, file, output: "json" }));
  expect(said).toEqual({ cluster: "south", publicKey: (await get("south")).spec.publicKey, file });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ secret: { stringData: { cluster: "south" } } });
});

it("add --file: a file that is there, or cannot be, is named before the hub knows the cluster", async () => {
  const there = join(directory, "there");
  writeFileSync(there, "mine");
  for (const file of [there, join(directory, "no", "such")])
    await expect(jobferry("add", "north", { redisUrl, managerKey, file })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`--file: `),
    });
  expect(readFileSync(there, "utf8")).toBe("mine");
  await expect(get("north")).rejects.toSatisfy(isNotFound);
});

it("add: a cluster that is enrolled is not enrolled twice, and no empty file is left", async () => {
  const file = join(directory, "twice.yaml");
  const before = await get("east");
  await expect(jobferry("add", "east", { redisUrl, managerKey, file })).rejects.toThrow(
    /enrolled already; --renew gives/,
  );
  expect(() => statSync(file)).toThrow("ENOENT");
  expect(await get("east")).toEqual(before);
});

it("add --renew: new keys, the identity is forgotten, labels are added to", async () => {
  const spec = { nextPublicKey: generateKeyPair().publicKey.text };
  await hub.api.patch(workerClusters, { name: "east" }, { type: "merge", body: { spec } });
  const status = { clusterID: "old", agentVersion: "1" };
  await hub.api.patch(workerClusters, { name: "east" }, { type: "merge", body: { status } }, { subresource: "status" });
  const before = await get("east");
  const said = JSON.parse(
    await jobferry("add", "east", { redisUrl, managerKey, renew: true, labels: "gpu=yes", output: "json" }),
  );
  const after = await get("east");
  expect(after.spec.publicKey).toBe(said.publicKey);
  expect(after.spec.publicKey).not.toBe(before.spec.publicKey);
  expect(after.spec.nextPublicKey).toBeUndefined();
  expect(after.status).toEqual({ agentVersion: "1" });
  expect(after.metadata.labels).toEqual({ zone: "eu", gpu: "yes" });
});

it("add: the manager's key is read from its Secret, and asked for when there is none", async () => {
  const west = parseClusterName("west");
  const options = { redis: { url: redisUrl }, labels: {}, renew: false };
  await expect(addCluster(hub.api, west, options)).rejects.toThrow(
    /give the manager's public key with --manager-key: its Secret/,
  );
  const { privateKey, publicKey } = generateKeyPair();
  const data = { "key.pem": Buffer.from(formatPrivateKey(privateKey)).toString("base64") };
  const secret = { metadata: { name: "jobferry-manager", namespace: "jobferry-system" }, data } as KubeObject;
  await hub.api.create(secrets, "jobferry-system", secret);
  const { secret: forWorker } = await addCluster(hub.api, west, options);
  expect(forWorker.stringData["manager-key"]).toBe(publicKey.text);
});

it("forget: a connected cluster only by force, one that is not there never", async () => {
  const east = parseClusterName("east");
  const conditions = [{ type: "Connected", status: "True" }];
  await hub.api.patch(
    workerClusters,
    { name: east },
    { type: "merge", body: { status: { conditions } } },
    { subresource: "status" },
  );
  await expect(forgetCluster(hub.api, east, false)).rejects.toThrow(/is connected .* drain it first, or say --force/);
  const said = await jobferry("forget", "east", { force: true });
  expect(said).toMatch(/^NAME .*\neast /);
  expect(said).toMatch(/ACL DELUSER jobferry-east[\s\S]*\{jobferry-east\}[\s\S]*kubectl delete -k deploy\/worker/);
  await expect(get("east")).rejects.toSatisfy(isNotFound);
  await expect(jobferry("forget", "east", { force: true })).rejects.toThrow(
    /there is no cluster east; jobferry cluster list/,
  );
});
