/** Logs under bad input and faults: a clear error or the bytes, never a hang, and bounded memory. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { nodes } from "@jobferry/manager/pods/node.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Certificate, clientCertificate } from "../../harness/certificates.ts";
import { type FleetNamespace, forever } from "../dispatch/fleet-namespace.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { type StandInLogFleet, startLogFleet } from "./log-fleet.ts";
import type { StandInKubelet } from "./stand-in-kubelet.ts";

let log: StandInLogFleet | undefined;
let fleet: RealFleet;
let kubelet: StandInKubelet;
let apiServer: Certificate;
let port: number;

beforeAll(async () => {
  log = await startLogFleet();
  ({ fleet, kubelet } = log);
  apiServer = await clientCertificate(log.authority, "kube-apiserver-kubelet-client", "system:masters");
  await fleet.until("the node says where its kubelet is", async () => (await kubeletPort()) !== undefined);
  port = (await kubeletPort()) ?? 0;
}, 300_000);
afterAll(() => log?.stop());

async function kubeletPort(): Promise<number | undefined> {
  const { status } = await fleet.hub.api.get(nodes, { name: "jobferry" });
  const { daemonEndpoints } = (status ?? {}) as { daemonEndpoints?: { kubeletEndpoint: { Port: number } } };
  return daemonEndpoints?.kubeletEndpoint.Port;
}

const names = async (at: FleetNamespace): Promise<string[]> =>
  (await fleet.hub.api.list(pods, { namespace: at.name, labelSelector: SHADOW_LABEL })).items.map(
    ({ metadata }) => metadata.name ?? "",
  );

/** A namespace with a Job `pi` that runs, and the name of its shadow. */
async function running(name: string): Promise<{ at: FleetNamespace; pod: string }> {
  const at = await fleet.namespace(name);
  await at.submit("pi", { pod: forever });
  await fleet.until("the Job's pod is shown as running", async () => {
    const { items } = await fleet.hub.api.list(pods, { namespace: name, labelSelector: SHADOW_LABEL });
    return items[0]?.status?.phase === "Running";
  });
  return { at, pod: (await names(at))[0] ?? "" };
}

const agent = new Agent({ keepAlive: true, maxSockets: 100 });
afterAll(() => agent.destroy());

/** Asks the manager's endpoint as the API server does. */
const ask = (path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, rejectUnauthorized: false, agent, ...apiServer },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    sent.setTimeout(60_000, () => sent.destroy(new Error("a log hung for a minute")));
    sent.on("error", reject);
    sent.end();
  });

const residentMiB = async (name: string): Promise<number> => {
  const status = await readFile(`/proc/${fleet.process(name).pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
};

const usedByRedisMiB = async (): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await fleet.redis.info("memory"))?.[1]) / 2 ** 20;

/** Writes as fast as it is read, until it is no longer. */
function firehose(namespace: string): void {
  const block = Buffer.alloc(256 * 1024, "as fast as it goes\n");
  kubelet.serve(namespace, async (_, response) => {
    const left = new AbortController();
    response.once("close", () => left.abort());
    while (!left.signal.aborted)
      if (!response.write(block)) await once(response, "drain", { signal: left.signal }).catch(() => {});
  });
}

describe("whoever asks for what is not there is told so", () => {
  it("a pod that is not ours, a container that is not, and a pod that is gone", async () => {
    const { at, pod } = await running("asked");
    kubelet.serve(at.mapped, (_, response) => void response.end("here\n"));
    expect(await ask(`/containerLogs/kube-system/etcd/etcd`)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/not one that Jobferry shows/),
    });
    expect(await ask(`/containerLogs/other/${pod}/main`)).toMatchObject({ status: 400 });
    const wrong = await ask(`/containerLogs/${at.name}/${pod}/nobody`);
    expect(wrong).toMatchObject({ status: 400, text: expect.stringMatching(/nobody is not valid/) });
    expect(await ask(`/containerLogs/${at.name}/${pod}/main`)).toEqual({ status: 200, text: "here\n" });
    await at.end("pi", 0);
    await at.untilFinished("pi");
    // Retention is two seconds here.
    await fleet.until("the log is gone with the worker's copy", async () => {
      const { stderr } = await fleet.hub.kubectl("logs", pod, "-n", at.name);
      return /gone from its cluster.*--retention-seconds/.test(stderr);
    });
  });
});

describe("many requests of one client", () => {
  // 10,000 at night.
  it("are answered with the log or with 429, and the manager stays as it was", async () => {
    const { at, pod } = await running("many");
    kubelet.serve(at.mapped, (_, response) => void response.end("here\n"));
    const path = `/containerLogs/${at.name}/${pod}/main`;
    await ask(path);
    const before = await residentMiB("manager");
    const counts = new Map<string, number>();
    const total = Number(process.env.JOBFERRY_LOG_REQUESTS ?? 1_000);
    let left = total;
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const { status, text } = await ask(path);
        const kind = status === 200 ? text : String(status);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 100 }, client));
    expect([...counts.keys()].filter((kind) => kind !== "here\n" && kind !== "429")).toEqual([]);
    expect(counts.get("here\n")).toBeGreaterThan(total / 2);
    expect((await residentMiB("manager")) - before).toBeLessThan(200);
    expect(await fleet.redis.llen("{jobferry-east}:log-frames")).toBe(0);
  });
});

describe("readers that do not read", () => {
  it("do not fill anybody's memory, and do not keep others from reading", async () => {
    const { at, pod } = await running("stuck");
    firehose(at.mapped);
    const before = {
      manager: await residentMiB("manager"),
      agent: await residentMiB("east"),
      redis: await usedByRedisMiB(),
    };
    const path = `/containerLogs/${at.name}/${pod}/main?follow=true`;
    const stuck = Array.from({ length: 30 }, () => {
      const sent = request({ host: "127.0.0.1", port, path, rejectUnauthorized: false, agent: false, ...apiServer });
      sent.on("response", (response) => response.pause());
      sent.on("error", () => {});
      sent.end();
      return sent;
    });
    let most = 0;
    for (let look = 0; look < 30; look++) {
      most = Math.max(most, (await usedByRedisMiB()) - before.redis);
      await delay(100);
    }
    // 16 MiB are shared by all, and 128 KiB belong to each.
    expect(most).toBeLessThan(64);
    expect((await residentMiB("manager")) - before.manager).toBeLessThan(250);
    expect((await residentMiB("east")) - before.agent).toBeLessThan(250);
    const { api } = await openClient({ kubeconfig: fleet.hub.kubeconfigPath }, {}, {});
    const reading = await api.readLog(
      { namespace: at.name, name: pod },
      { container: "main" },
      AbortSignal.timeout(120_000),
    );
    let bytes = 0;
    for await (const chunk of reading) {
      bytes += chunk.length;
      if (bytes > 20_000_000) break;
    }
    await api.close();
    expect(bytes).toBeGreaterThan(20_000_000);
    for (const each of stuck) each.destroy();
    await fleet.until(
      "nothing of it is left in Redis",
      async () => (await fleet.redis.llen("{jobferry-east}:log-frames")) === 0,
    );
  });
});

describe("Redis is lost in the middle", () => {
  it("and the log ends with a line that says so; the next reading works", async () => {
    const { at, pod } = await running("redis-lost");
    const isReading = Promise.withResolvers<void>();
    kubelet.serve(at.mapped, (_, response) => {
      response.write("first\n");
      isReading.resolve();
    });
    const following = fleet.hub.kubectl("logs", "-f", pod, "-n", at.name);
    await isReading.promise;
    await fleet.until(
      "the line is on the hub's side",
      async () => (await fleet.redis.llen("{jobferry-east}:log-frames")) === 0,
    );
    await delay(500);
    await fleet.redis.call("CLIENT", "KILL", "TYPE", "normal");
    const { stdout } = await following;
    expect(stdout).toMatch(/^first\n\njobferry: the log breaks off here: .*(Redis|does not answer)/);
    kubelet.serve(at.mapped, (_, response) => void response.end("again\n"));
    await fleet.until("logs can be read again", async () => {
      return (await fleet.hub.kubectl("logs", pod, "-n", at.name)).stdout === "again\n";
    });
  }, 120_000);
});
