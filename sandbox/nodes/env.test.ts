import type { Container } from "@jobferry/shared/job/types.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SandboxCluster } from "../cluster.ts";
import { ConfigError, containerEnv } from "./env.ts";
import { aPod } from "./testing/pod.ts";

const cluster = new SandboxCluster({ seed: 1 });
beforeAll(async () => {
  await cluster.api.create(configMaps, "default", {
    metadata: { name: "settings" },
    data: { mode: "fast", level: "3" },
  });
  const password = Buffer.from("s3cret").toString("base64");
  await cluster.api.create(secrets, "default", { metadata: { name: "login" }, data: { password } });
});
afterAll(() => cluster.stop());

async function env(container: Partial<Container>): Promise<Record<string, string>> {
  const full = { name: "c0", image: "x", ...container };
  const pod = aPod("p", {
    containers: [full, { name: "other", resources: { limits: { cpu: "2" } } }],
    nodeName: "n1",
    labels: { app: "pi" },
    annotations: { "example.com/index": "4" },
  });
  const variables = await containerEnv(full, {
    api: cluster.api,
    pod: { ...pod, metadata: { ...pod.metadata, uid: "u1" } },
    podIP: "10.0.0.1",
    hostIP: "172.20.0.1",
    allocatable: { cpu: "8", memory: "32Gi" },
  });
  return Object.fromEntries(variables);
}
const field = (fieldPath: string) => ({ env: [{ name: "V", valueFrom: { fieldRef: { fieldPath } } }] });

test("values may use variables defined before them", async () => {
  const variables = [
    { name: "A", value: "1" },
    { name: "B", value: "$(A)2 $(C)" },
    { name: "C", value: "3" },
  ];
  expect(await env({ env: variables })).toEqual({ A: "1", B: "12 $(C)", C: "3" });
});

test.each([
  ["metadata.name", "p"],
  ["metadata.namespace", "default"],
  ["metadata.uid", "u1"],
  ["metadata.labels['app']", "pi"],
  ["metadata.annotations['example.com/index']", "4"],
  ["metadata.labels['none']", ""],
  ["spec.nodeName", "n1"],
  ["status.podIP", "10.0.0.1"],
  ["status.hostIP", "172.20.0.1"],
])("downward API: %s is %s", async (path, value) => {
  expect(await env(field(path))).toEqual({ V: value });
});

test.each([
  [{ resource: "limits.cpu" }, {}, "8"],
  [{ resource: "limits.memory", divisor: "1Mi" }, { limits: { memory: "100M" } }, "96"],
  [{ resource: "requests.cpu", divisor: "1m" }, { requests: { cpu: "250m" } }, "250"],
  [{ resource: "limits.cpu", containerName: "other" }, {}, "2"],
])("resource field %j", async (resourceFieldRef, resources, value) => {
  expect(await env({ resources, env: [{ name: "V", valueFrom: { resourceFieldRef } }] })).toEqual({ V: value });
});

test("config maps and secrets, whole and by key", async () => {
  const variables = await env({
    envFrom: [{ configMapRef: { name: "settings" }, prefix: "S_" }, { secretRef: { name: "login" } }],
    env: [
      { name: "MODE", valueFrom: { configMapKeyRef: { name: "settings", key: "mode" } } },
      { name: "PASS", valueFrom: { secretKeyRef: { name: "login", key: "password" } } },
      { name: "NONE", valueFrom: { secretKeyRef: { name: "gone", key: "x", optional: true } } },
    ],
  });
  expect(variables).toEqual({ S_mode: "fast", S_level: "3", password: "s3cret", MODE: "fast", PASS: "s3cret" });
});

test("what is missing is named", async () => {
  const missing = (valueFrom: Record<string, unknown>) => env({ env: [{ name: "V", valueFrom }] });
  await expect(missing({ configMapKeyRef: { name: "gone", key: "x" } })).rejects.toThrow(
    new ConfigError('configmap "gone" not found'),
  );
  await expect(missing({ secretKeyRef: { name: "login", key: "x" } })).rejects.toThrow(
    new ConfigError("couldn't find key x in Secret default/login"),
  );
});
