/** Section C of the scenarios on processes: exit code 2, one line, nothing on standard output; and an agent without its Redis. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { jobs, namespaces } from "@jobferry/shared/kube/resources.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { Scripts } from "@jobferry/shared/queue/script-runner.ts";
import { Redis } from "ioredis";
import { fetch } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TcpProxy } from "../e2e/transport/proxy.ts";
import { until } from "../fleet/until.ts";
import { guardedDirectory, startGuarded } from "../harness/guarded-process.ts";
import { startRedis, type TestRedis } from "../harness/redis.ts";
import { runCommand } from "../harness/run-command.ts";
import { type ServedSandbox, sandboxCluster } from "../harness/sandbox-cluster.ts";

const root = join(import.meta.dirname, "../..");
const directory = guardedDirectory("configuration");
const keyFile = join(directory.path, "key.pem");
let worker: ServedSandbox;
let redis: TestRedis;

beforeAll(async () => {
  writeFileSync(keyFile, formatPrivateKey(generateKeyPair().privateKey));
  redis = await startRedis();
  worker = await sandboxCluster({
    kubelet: "virtual",
    nodes: [{ name: "node", cpu: "8", memory: "16Gi", pods: 100 }],
    behaviour: () => ({ runMs: 100 }),
  });
  await worker.api.create(namespaces, undefined, { metadata: { name: "jobferry-system" } });
});
afterAll(async () => {
  await worker?.stop();
  await redis?.stop();
  await directory.remove();
});

const agentFlags = (redisUrl: string): string[] => [
  join(root, "worker-agent/main.ts"),
  "start",
  ...["--cluster", "east", "--key-file", keyFile, "--namespaces", "*"],
  ...["--manager-key", generateKeyPair().publicKey.text],
  ...["--kubeconfig", worker.kubeconfigPath, "--redis-url", redisUrl, "--metrics-port", "0"],
];
const managerFlags = (redisUrl: string): string[] => [
  join(root, "manager/main.ts"),
  ...["--key-file", keyFile, "--kubeconfig", worker.kubeconfigPath, "--redis-url", redisUrl],
];

/** Nothing listens on port 1. */
const nowhere = "redis://127.0.0.1:1";
const stranger = (): string => redis.url.replace("redis://", "redis://nobody:hunter2@");
const cases: Record<string, { args: () => string[]; says: RegExp }> = {
  "manager: an unknown flag": {
    args: () => [join(root, "manager/main.ts"), "--frob"],
    says: /unknown option '--frob'/,
  },
  "agent: an unknown flag": {
    args: () => [join(root, "worker-agent/main.ts"), "start", "--frob"],
    says: /unknown option '--frob'/,
  },
  "manager: a Redis that is not there": {
    args: () => managerFlags(nowhere),
    says: /--redis-url 127.0.0.1:1: Redis does not answer; check its address.*ECONNREFUSED/,
  },
  "manager: a Redis that does not know it": {
    args: () => managerFlags(stranger()),
    says: /--redis-url .*does not accept these credentials; check the user.*WRONGPASS/,
  },
  "agent: a Redis that does not know it": {
    args: () => agentFlags(stranger()),
    says: /--redis-url .*does not accept these credentials; check the user.*WRONGPASS/,
  },
  "cluster list: an API server that is not there": {
    args: () => {
      const path = join(directory.path, "refused");
      const contexts = [{ name: "c", context: { cluster: "c", user: "u" } }];
      const clusters = [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }];
      const users = [{ name: "u", user: { token: "t" } }];
      writeFileSync(path, JSON.stringify({ "current-context": "c", contexts, clusters, users }));
      return [join(root, "cli/main.ts"), "cluster", "list", "--kubeconfig", path];
    },
    says: /127.0.0.1:1 does not answer as an API server .*ECONNREFUSED.*check the server/,
  },
};

describe("exit code 2 and one sentence", () => {
  it.concurrent.each(Object.entries(cases))("%s", async (_, { args, says }) => {
    const { code, stdout, stderr } = await runCommand(process.execPath, args(), { timeoutMs: 250_000 });
    const lines = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
    expect(lines).toEqual([expect.stringMatching(says)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).not.toContain("hunter2");
  });
});

it("an agent whose Redis is away runs its Jobs, says so in /readyz, and connects when Redis is there", async () => {
  const proxy = await TcpProxy.start(new URL(redis.url));
  proxy.cut();
  const agent = startGuarded({
    name: "agent",
    command: process.execPath,
    args: agentFlags(proxy.url),
    logFile: join(directory.path, "agent.log"),
  });
  try {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } };
    const key = { namespace: "default", name: "without-redis" };
    await worker.api.create(jobs, "default", {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: key,
      spec: { managedBy: WORKER_MANAGED_BY, template },
    });
    await until("the Job's end", async () => (isFinished(await worker.api.get(jobs, key)) ? true : undefined));
    const status = await until("the status server", async () => /"status":"([^"]+)"/.exec(await agent.log())?.[1]);
    const away = await fetch(`${status}/readyz`);
    expect({ status: away.status, text: await away.text() }).toEqual({
      status: 503,
      text: expect.stringMatching(/^not ready: .*Redis (does not answer|is not reachable)/),
    });
    proxy.open();
    await loadScripts();
    await until("readiness", async () => ((await fetch(`${status}/readyz`)).ok ? true : undefined));
  } finally {
    await agent.stop();
    await proxy.stop();
  }
});

/** As the manager does when it connects; there is none in this test. */
async function loadScripts(): Promise<void> {
  const client = new Redis(redis.url);
  await new Scripts({ client, loads: true }).load();
  client.disconnect();
}
