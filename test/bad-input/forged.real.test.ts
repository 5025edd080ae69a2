/** Section C of the scenarios: reports that no honest agent sends, and Jobs at the limits, on a real hub with a real Redis. */
import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { CLUSTER, SEQ } from "@jobferry/shared/protocol/marks.ts";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EAST, type ForgeableFleet, startForgeableFleet } from "./fleet.ts";
import { sizeTests } from "./sizes.ts";

const VICTIM = "victim";
const forever = {
  metadata: { annotations: { "instant-pods/run": "forever" } },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] },
};
const reports = { cluster: EAST, box: "reports" } as const;

let fleet: ForgeableFleet;
let redis: Redis;
let victim: Job;
let serial = 0;
/** Of forged reports: newer than any true one, and not so high that it is refused for that. */
let firstSeq = 0;

beforeAll(async () => {
  fleet = await startForgeableFleet();
  redis = new Redis(fleet.redisUrl);
  await fleet.submit(VICTIM, { completionMode: "Indexed", completions: 4, parallelism: 2, template: forever });
  await fleet.until("the victim runs", async () => {
    const { status } = await fleet.job(VICTIM);
    return status?.active === 2 && status.ready === 2;
  });
  victim = await fleet.job(VICTIM);
  firstSeq = Number((await fleet.mirror(VICTIM))?.metadata.resourceVersion) + 500_000;
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

const sealed = (payload: string): string => fleet.sealed(payload);

/** A status report on the victim, with `fields` as the text of its status. */
const about = (fields: string, over: Record<string, unknown> = {}): string => {
  const header = {
    kind: "status",
    uid: victim.metadata.uid,
    epoch: 1,
    seq: firstSeq + ++serial,
    ...over,
  };
  return JSON.stringify(header).replace(/}$/, `,"status":{${fields}}}`);
};

/** The message is refused for this reason, the victim stays as it was, and a Job that comes after it completes. */
async function isRefused(code: string, send: () => Promise<unknown>): Promise<void> {
  const counted = fleet.refused.length;
  await send();
  const neighbour = `neighbour-${++serial}`;
  await fleet.submit(neighbour);
  await fleet.until(`a message is refused as ${code}`, () => fleet.refused.slice(counted).includes(`${EAST} ${code}`));
  expect((await fleet.untilFinished(neighbour)).status?.succeeded).toBe(1);
  expect((await fleet.job(VICTIM)).status).toEqual(victim.status);
}

describe("a message is refused, counted, logged and shown on the WorkerCluster that", () => {
  const whole = (): string => sealed(about('"active":1'));
  const messages: Record<string, { code: string; text: () => string }> = {
    "is 10 MB of text": { code: "protocol/too-large", text: () => "x".repeat(10_000_000) },
    "is not an envelope": { code: "protocol/malformed", text: () => "hello" },
    "is cut off": { code: "protocol/seal", text: () => whole().slice(0, -4) },
    "goes on after its end": { code: "protocol/malformed", text: () => `${whole()} ` },
    "another cluster sealed": {
      code: "protocol/unknown-key",
      text: () => fleet.sealed(about('"active":1'), generateKeyPair()),
    },
    "is meant for another cluster": { code: "protocol/misdirected", text: () => whole().replace(" east ", " west ") },
    "comes from an agent that is too old": {
      code: "protocol/version",
      text: () => `jobferry/1 report east plain ${"A".repeat(86)}\n${about('"active":1')}`,
    },
    "comes from an agent that is too new": {
      code: "protocol/version",
      text: () => whole().replace("jobferry/2", "jobferry/3"),
    },
    "needs a field that nobody knows": {
      code: "protocol/too-new",
      text: () => sealed(about('"active":1', { mood: "good", critical: ["mood"] })),
    },
    "has a __proto__ key": { code: "protocol/json", text: () => sealed(about('"__proto__":{"active":9}')) },
  };
  it.each(Object.entries(messages))("%s", async (_, { code, text }) => {
    await isRefused(code, () => fleet.bus.send(reports, text()));
    await fleet.until("the WorkerCluster says so", async () =>
      (await fleet.eventsOf(EAST)).some((event) =>
        event.includes(`MessageRefused: A message of east/reports was refused: ${code}`),
      ),
    );
    expect(JSON.stringify(fleet.warnings)).toContain(code);
  });

  it("is not UTF-8", async () => {
    const prefix = `{jobferry-${EAST}}:reports:`;
    const bytes = Buffer.from(JSON.stringify(whole()));
    bytes[bytes.length - 5] = 0xff;
    await isRefused("protocol/malformed", async () => {
      await redis.hset(`${prefix}not-utf8`, "data", bytes);
      await redis.lpush(`${prefix}wait`, "not-utf8");
      await redis.zadd(`${prefix}marker`, 0, "0");
    });
  });
});

describe("a status is refused that has", () => {
  const time = (field: string): string => `"startTime":"${victim.status?.startTime}",${field}`;
  const conditions = (...types: string[]): string =>
    time(`"conditions":[${types.map((type) => `{"type":"${type}","status":"True"}`).join()}]`);
  const statuses: Record<string, { code?: string; fields: () => string }> = {
    "a negative counter": { code: "protocol/schema", fields: () => '"failed":-1' },
    "a counter that is not a number": { code: "protocol/schema", fields: () => '"failed":null' },
    "a fractional counter": { code: "protocol/schema", fields: () => '"failed":0.5' },
    "a huge counter": { code: "protocol/schema", fields: () => '"succeeded":9007199254740993' },
    "overlapping indexes": { code: "protocol/schema", fields: () => '"completedIndexes":"0-2,2"' },
    "malformed indexes": { code: "protocol/schema", fields: () => '"completedIndexes":"0--3"' },
    "indexes that the Job does not have": { fields: () => time('"succeeded":9,"completedIndexes":"0-8"') },
    "an index that is completed and failed": {
      fields: () => time('"completedIndexes":"0","failedIndexes":"0","succeeded":1'),
    },
    "a duplicate condition": { code: "protocol/schema", fields: () => conditions("Complete", "Complete") },
    "Complete and Failed together": { fields: () => conditions("Complete", "Failed") },
    "a Complete without what leads to it": { fields: () => conditions("Complete") },
    "a time that is none": { code: "protocol/schema", fields: () => '"startTime":"2026-02-30T00:00:00Z"' },
    "an end before its beginning": { fields: () => time('"completionTime":"2001-01-01T00:00:00Z"') },
  };
  it.each(Object.entries(statuses))("%s", async (_, { code = "report/invalid", fields }) => {
    await isRefused(code, () => fleet.bus.send(reports, sealed(about(fields()))));
    if (code !== "report/invalid") return;
    await fleet.until("the Job says so", async () =>
      (await fleet.eventsOf(VICTIM)).some((event) =>
        event.startsWith("StatusRejected: Cluster east reported an impossible status"),
      ),
    );
  });

  it.each(["an older epoch", "an epoch that never was"])("%s", async (which) => {
    const epoch = which === "an older epoch" ? 1 : 7;
    // The victim is in its first epoch; an older one exists only for a Job that has moved.
    const uid = which === "an older epoch" ? await movedJob() : victim.metadata.uid;
    await isRefused("report/not-its-job", () => fleet.bus.send(reports, sealed(about('"active":1', { uid, epoch }))));
  });

  it.each(["ConfigMap", "Secret"])("a question for a %s that does not travel with the Job", async (kind) => {
    const reference = { kind, name: "not-its-own", hash: "ab".repeat(32) };
    const ask = JSON.stringify({ kind: "ask", uid: victim.metadata.uid, epoch: 1, references: [reference] });
    await isRefused("report/not-listed", () => fleet.bus.send(reports, sealed(ask)));
  });

  async function movedJob(): Promise<string | undefined> {
    await fleet.submit("moved", { template: forever }, { annotations: { "jobferry.dev/epoch": "4" } });
    await fleet.until(
      "it is assigned",
      async () => (await fleet.job("moved")).metadata.annotations?.[CLUSTER] === EAST,
    );
    return (await fleet.job("moved")).metadata.uid;
  }
});

it("a start time that the worker changes is not changed on the hub", async () => {
  const fields = '"startTime":"2001-01-01T00:00:00Z","active":1,"ready":0,"terminating":0,"uncountedTerminatedPods":{}';
  await fleet.submit("restarted", { template: forever });
  await fleet.until("it runs", async () => (await fleet.job("restarted")).status?.ready === 1);
  const before = await fleet.job("restarted");
  await fleet.bus.send(reports, sealed(about(fields, { uid: before.metadata.uid })));
  await fleet.until("the report is mirrored", async () => (await fleet.job("restarted")).status?.ready === 0);
  expect((await fleet.job("restarted")).status?.startTime).toBe(before.status?.startTime);
});

it("a heartbeat that somebody read in Redis and sends again does not count as contact", async () => {
  const monitor = await redis.monitor();
  const captured: string[] = [];
  monitor.on("monitor", (_time: string, [command = "", ...args]: string[]) => {
    if (/^evalsha$/i.test(command) && args[2] === `{jobferry-${EAST}}:reports:wait`)
      // MONITOR doubles backslashes.
      captured.push(...args.filter((arg) => arg.startsWith('"jobferry/')).map((arg) => arg.replaceAll("\\\\", "\\")));
  });
  await fleet.until("heartbeats were sent", () => captured.length >= 3);
  monitor.disconnect();
  const counted = fleet.refused.length;
  for (const text of captured) await fleet.bus.send(reports, JSON.parse(text));
  await fleet.until("they are refused", () => fleet.refused.slice(counted).includes(`${EAST} report/repeated`));
});

it("a replayed report, and a terminal condition taken back, change nothing", async () => {
  const name = "replayed";
  await fleet.submit(name, { template: forever });
  await fleet.until("it runs", async () => (await fleet.job(name)).status?.ready === 1);
  const running = await fleet.job(name);
  const { uid } = running.metadata;
  const { startTime } = running.status ?? {};
  const text = sealed(about(`"startTime":"${startTime}","active":1,"ready":0,"terminating":0`, { uid }));
  await fleet.bus.send(reports, text);
  await fleet.until("the report is mirrored", async () => (await fleet.job(name)).status?.ready === 0);
  const after = await fleet.job(name);
  await isRefused("report/stale", () => fleet.bus.send(reports, text));
  expect((await fleet.job(name)).metadata.resourceVersion).toBe(after.metadata.resourceVersion);

  const end = (type: string): string =>
    `{"type":"${type}","status":"True","reason":"BackoffLimitExceeded","message":"","lastTransitionTime":"${startTime}","lastProbeTime":"${startTime}"}`;
  const conditions = `"conditions":[${end("FailureTarget")},${end("Failed")}]`;
  const failed = `"startTime":"${startTime}","failed":1,"ready":0,"terminating":0,"uncountedTerminatedPods":{},${conditions}`;
  await fleet.bus.send(reports, sealed(about(failed, { uid })));
  const finished = await fleet.untilFinished(name);
  await fleet.bus.send(
    reports,
    sealed(about(`"startTime":"${startTime}","active":1,"ready":1,"terminating":0`, { uid })),
  );
  const neighbour = `neighbour-${++serial}`;
  await fleet.submit(neighbour);
  await fleet.untilFinished(neighbour);
  expect((await fleet.job(name)).status).toEqual(finished.status);
});

describe("a number that the cluster's API server cannot have reached", () => {
  const seq = Number.MAX_SAFE_INTEGER;
  async function running(name: string): Promise<Job> {
    await fleet.submit(name, { template: forever });
    await fleet.until("it runs", async () => (await fleet.job(name)).status?.ready === 1);
    return fleet.job(name);
  }

  it("is refused, and later reports are not", async () => {
    const { metadata, status } = await running("counted");
    const fields = `"startTime":"${status?.startTime}","active":1,"ready":0,"terminating":0`;
    const report = sealed(about(fields, { uid: metadata.uid, seq }));
    await isRefused("report/invalid", () => fleet.bus.send(reports, report));
    expect((await fleet.job("counted")).status).toEqual(status);
    const says = `StatusRejected: Cluster east numbered a report ${seq}, which its API server cannot have reached`;
    await fleet.until("the Job says so", async () =>
      (await fleet.eventsOf("counted")).some((event) => event.startsWith(says)),
    );
    await endPod("counted");
    expect((await fleet.untilFinished("counted")).status?.succeeded).toBe(1);
  });

  it("holds no report up where it is stored", async () => {
    const { metadata } = await running("stored");
    await fleet.hub.api.patch(
      jobs,
      { namespace: "default", name: "stored" },
      storing(metadata.annotations?.[SEQ], seq),
    );
    await endPod("stored");
    expect((await fleet.untilFinished("stored")).status?.succeeded).toBe(1);
  });
});

/** As a manager that had not yet heard of the cluster would have. */
const storing = (stored: string | undefined, seq: number) => {
  const [epoch, , origin] = stored?.split(":") ?? [];
  return { type: "merge", body: { metadata: { annotations: { [SEQ]: `${epoch}:${seq}:${origin}` } } } } as const;
};

async function endPod(job: string): Promise<void> {
  const { items } = await fleet.worker.api.list(pods, { namespace: "default", labelSelector: `job-name=${job}` });
  const name = items[0]?.metadata.name ?? "";
  const body = { metadata: { annotations: { "instant-pods/run": "0s" } } };
  await fleet.worker.api.patch(pods, { namespace: "default", name }, { type: "merge", body });
}

it("an unknown condition is shown as it is, and does no harm", async () => {
  const name = "curious";
  await fleet.submit(name, { template: forever });
  await fleet.until("it runs", async () => (await fleet.job(name)).status?.ready === 1);
  const { metadata, status } = await fleet.job(name);
  const fields = `"startTime":"${status?.startTime}","active":1,"ready":1,"terminating":0,"uncountedTerminatedPods":{},"conditions":[{"type":"example.com/Odd","status":"True","reason":"Because","message":"m","lastTransitionTime":"${status?.startTime}","lastProbeTime":"${status?.startTime}"}]`;
  await fleet.bus.send(reports, sealed(about(fields, { uid: metadata.uid })));
  await fleet.until("it is shown", async () =>
    ((await fleet.job(name)).status?.conditions ?? []).some(({ type }) => type === "example.com/Odd"),
  );
  await fleet.hub.api.delete(jobs, { namespace: "default", name }, { propagationPolicy: "Background" });
  await fleet.until("the mirror is gone", async () => (await fleet.mirror(name)) === undefined);
});

describe("a Job at the limits", () => sizeTests(() => fleet));
