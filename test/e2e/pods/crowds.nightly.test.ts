/** Many readers, slow ones, long logs and a Redis that is restarted: everybody gets the bytes or a clear word. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FleetNamespace, forever } from "../dispatch/fleet-namespace.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { type StandInLogFleet, startLogFleet } from "./log-fleet.ts";

const LIMIT_MS = 280_000;
let log: StandInLogFleet | undefined;
let fleet: RealFleet;
let api: Awaited<ReturnType<typeof openClient>>["api"];
beforeAll(async () => {
  log = await startLogFleet({ agentFlags: ["--retention-seconds", "600"] });
  ({ fleet } = log);
  ({ api } = await openClient({ kubeconfig: fleet.hub.kubeconfigPath }, {}, {}));
}, 300_000);
afterAll(async () => {
  await api?.close();
  await log?.stop();
});

/** A namespace with a Job that runs, and its shadow. */
async function running(name: string): Promise<{ at: FleetNamespace; key: { namespace: string; name: string } }> {
  const at = await fleet.namespace(name);
  await at.submit("pi", { pod: forever });
  const shown = async () => (await fleet.hub.api.list(pods, { namespace: name, labelSelector: SHADOW_LABEL })).items[0];
  await fleet.until("the Job's pod is shown as running", async () => (await shown())?.status?.phase === "Running");
  return { at, key: { namespace: name, name: (await shown())?.metadata.name ?? "" } };
}

/** Bytes that differ everywhere. */
const block = Buffer.from(Array.from({ length: 250_000 }, (_, at) => (at * 7919) % 251));

/** Its writes wait for its reader. */
async function writes(response: ServerResponse, blocks: number): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  for (let at = 0; at < blocks && !left.signal.aborted; at++)
    if (!response.write(block)) await once(response, "drain", { signal: left.signal }).catch(() => {});
  response.end();
}

const digestOf = (blocks: number): string => {
  const hash = createHash("sha256");
  for (let at = 0; at < blocks; at++) hash.update(block);
  return hash.digest("hex");
};

async function read(key: { namespace: string; name: string }, pauseMs = 0): Promise<{ digest: string; ms: number }> {
  const hash = createHash("sha256");
  const began = performance.now();
  for await (const chunk of await api.readLog(key, { container: "main" }, AbortSignal.timeout(LIMIT_MS))) {
    hash.update(chunk);
    if (pauseMs > 0) await delay(pauseMs);
  }
  return { digest: hash.digest("hex"), ms: performance.now() - began };
}

const left = async (): Promise<number> => fleet.redis.llen("{jobferry-east}:log-frames");

it("200 readers at once get every byte, and Jobs run meanwhile", async () => {
  const { at, key } = await running("crowd");
  log?.kubelet.serve(at.mapped, (_, response) => writes(response, 4));
  const reading = Promise.all(Array.from({ length: 200 }, () => read(key)));
  await at.submit("beside");
  expect((await at.untilFinished("beside")).status?.succeeded).toBe(1);
  const digests = new Set((await reading).map(({ digest }) => digest));
  expect([...digests]).toEqual([digestOf(4)]);
  await fleet.until("nothing of it is left in Redis", async () => (await left()) === 0);
}, 300_000);

it("a log of 200 MB arrives byte by byte", async () => {
  const { at, key } = await running("long");
  log?.kubelet.serve(at.mapped, (_, response) => writes(response, 800));
  expect((await read(key)).digest).toBe(digestOf(800));
}, 300_000);

it("beside slow readers and some that never read, others are not slowed by more than twice", async () => {
  const { at, key } = await running("slow");
  log?.kubelet.serve(at.mapped, (_, response) => writes(response, 80));
  const alone = Math.min((await read(key)).ms, (await read(key)).ms);
  const gone = new AbortController();
  const others = Array.from({ length: 40 }, async (_, at) => {
    const chunks = await api.readLog(key, { container: "main" }, gone.signal);
    for await (const chunk of chunks) {
      if (at % 2 === 0) await delay(LIMIT_MS, undefined, { signal: gone.signal });
      await delay(chunk.length / 50, undefined, { signal: gone.signal });
    }
  });
  for (const other of others) other.catch(() => {});
  // They have what the windows hold before the others are measured.
  await delay(2_000);
  const beside = Math.min((await read(key)).ms, (await read(key)).ms);
  gone.abort();
  await Promise.allSettled(others);
  expect(beside / alone).toBeLessThan(2);
}, 300_000);

it("a Redis that is restarted in the middle ends logs with a line that says so, and the next reading works", async ({
  skip,
}) => {
  const { at, key } = await running("restarted");
  log?.kubelet.serve(at.mapped, async (_, response) => {
    for (let line = 0; !response.destroyed; line++) {
      response.write(`line ${line}\n`);
      await delay(20);
    }
  });
  const following = fleet.hub.kubectl("logs", "-f", key.name, "-n", key.namespace);
  await fleet.until("it is read", async () => (log?.kubelet.requests.length ?? 0) > 0);
  await delay(1_000);
  skip(!(await fleet.restartRedis()), "Redis is not ours to restart");
  const { stdout } = await following;
  expect(stdout).toMatch(/line \d+\n[\s\S]*\njobferry: the log breaks off here: .*(Redis|does not answer)/);
  log?.kubelet.serve(at.mapped, (_, response) => void response.end("again\n"));
  await fleet.until("logs can be read again", async () => {
    return (await fleet.hub.kubectl("logs", key.name, "-n", key.namespace)).stdout === "again\n";
  });
  await at.submit("after");
  expect((await at.untilFinished("after")).status?.succeeded).toBe(1);
}, 300_000);
