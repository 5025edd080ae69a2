/** Honest Jobs beside those who would harm them, on a real fleet with the shipped roles, policies and ACL rules. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import type { Enrolment } from "@jobferry/cli/cluster/enrolment.ts";
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { isComplete, isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, CLUSTER_SELECTOR, EPOCH, HUB_UID_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import { expect } from "vitest";
import type { FleetNamespace } from "../e2e/dispatch/fleet-namespace.ts";
import { RealFleet } from "../e2e/dispatch/real-fleet.ts";
import type { Victim } from "./hostile/attacker.ts";
import type { Deeds, Orders, Told } from "./hostile/main.ts";

export interface HostileOptions {
  /** Honest Jobs without attackers, before and again afterwards: whatever else the machine does meets both. */
  readonly alone: number;
  /** And beside them. */
  readonly beside: number;
  /** Between two honest Jobs. */
  readonly everyMs: number;
  /** Between two rounds of an attacker. */
  readonly pauseMs: number;
}

/** A password of an honest Job; nobody else may come to see it. */
const CANARY = "canary-3f9c1b7e5d";
/** What a busy machine adds to single Jobs is not the attackers' doing. */
const FLOOR_MS = 2_000;

export async function hostileFleet({ alone, beside, everyMs, pauseMs }: HostileOptions): Promise<void> {
  const fleet = new RealFleet({ logLevel: "info" });
  try {
    await fleet.start();
    const honest = await fleet.namespace("honest");
    await fleet.namespace("mallory");
    await confine(fleet, "mallory", "honest");
    const watch = await watchJobs(fleet, honest.name);
    const before = await runHonest(honest, watch, "before", alone, everyMs);

    const attackers = await sendAttackers(fleet, pauseMs);
    const tell = setInterval(() => attackers.send({ victims: unfinishedOf(watch) }), 200);
    const attacked = await runHonest(honest, watch, "beside", beside, everyMs);
    clearInterval(tell);
    const { rounds, found } = await attackers.end();
    const after = await runHonest(honest, watch, "after", alone, everyMs);

    const figures = {
      ...{ alone: percentile([...before, ...after], 99), attacked: percentile(attacked, 99) },
      p50: [before, attacked, after].map((turn) => percentile(turn, 50)),
      p99: [before, attacked, after].map((turn) => percentile(turn, 99)),
      rounds,
    };
    console.log(`honest Jobs: ${JSON.stringify(figures)}`);
    await expectHonestOutcomes(fleet, honest, 2 * alone + beside);
    await expectNothingElsewhere(fleet);
    expect(found).toEqual([]);
    expect(Object.values(rounds).filter((count) => count > 1)).toHaveLength(4);
    expect(figures.attacked).toBeLessThan(2 * Math.max(FLOOR_MS, figures.alone));
    watch.stop();
  } finally {
    await fleet.stop();
  }
}

/**
 * What an operator does who does not trust everybody: who submits to `namespace` has a queue and a quota of their own, and not the
 * use of the others'. Without a quota they may start as many pods as they like, as on any cluster.
 */
async function confine(fleet: RealFleet, namespace: string, others: string): Promise<void> {
  const queue = { apiVersion: "jobferry.dev/v1alpha1", kind: "JobQueue" };
  const only = (team: string) => ({ matchLabels: { "kubernetes.io/metadata.name": team } });
  const quota = { jobs: 10, resources: { pods: 10 } };
  await fleet.hub.api.create(jobQueues, undefined, {
    ...queue,
    metadata: { name: namespace },
    spec: { namespaceSelector: only(namespace), quota, maxPriority: 0 },
  });
  await fleet.hub.api.create(jobQueues, undefined, {
    ...queue,
    metadata: { name: "default" },
    spec: { namespaceSelector: only(others) },
  });
}

const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];

/** Gives each of them what they are supposed to have, and no more, and lets them loose. */
async function sendAttackers(fleet: RealFleet, pauseMs: number) {
  await fleet.worker("east").api.create(namespaces, undefined, { metadata: { name: "trudy" } });
  await fleet.redis.call("ACL", "SETUSER", "reader", "on", ">reader", "~*", "+@read", "+info", "+monitor", "+keys");
  const readerUrl = new URL(fleet.redisUrl);
  [readerUrl.username, readerUrl.password] = ["reader", "reader"];
  const orders: Orders = {
    submitter: {
      kubeconfig: await fleet.hub.serviceAccount({ name: "mallory", namespace: "mallory", rules: EVERYTHING }),
      namespace: "mallory",
    },
    workerUser: {
      kubeconfig: await fleet.worker("east").serviceAccount({ name: "trudy", namespace: "trudy", rules: EVERYTHING }),
      namespace: "trudy",
    },
    agent: { name: "evil", redisUrl: fleet.redisUrl, managerKey: fleet.managerKey, secret: await enrolEvil(fleet) },
    reader: { url: readerUrl.href, secret: CANARY },
    pauseMs,
  };
  const child = fork(join(import.meta.dirname, "hostile/main.ts"), { stdio: "inherit" });
  // They would have machines of their own.
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
  const send = (told: Told): void => void child.send(told);
  send({ orders });
  await once(child, "message");
  return {
    send,
    async end(): Promise<Deeds> {
      const answer = once(child, "message") as Promise<[Deeds]>;
      send({ stop: true });
      const [deeds] = await answer;
      return deeds;
    },
  };
}

/** A cluster of the fleet whose Secret somebody has, and behind which there is nothing. */
async function enrolEvil(fleet: RealFleet): Promise<Record<string, string>> {
  const where = ["--kubeconfig", fleet.hub.kubeconfigPath, "--redis-url", fleet.redisUrl, "--output", "json"];
  const flags = ["--manager-key", fleet.managerKey, "--labels", "name=evil"];
  const { secret, acl } = JSON.parse(await fleet.jobferry("cluster", "add", "evil", ...where, ...flags)) as Enrolment;
  const [command = "", ...rules] = acl.split(" ");
  await fleet.redis.call(command, ...rules);
  return secret.stringData;
}

const unfinishedOf = (watch: Watch): Victim[] =>
  [...watch.jobs.values()]
    .filter((job) => !isFinished(job))
    .map(({ metadata: { namespace = "", name = "", uid = "" } }) => ({ namespace, name, uid }));

/** Every one ended as it should, on the cluster that it was given first; nobody counted, moved or restarted it. */
async function expectHonestOutcomes(
  fleet: RealFleet,
  { name }: FleetNamespace<RealFleet>,
  count: number,
): Promise<void> {
  const { items } = await fleet.hub.api.list(jobs, { namespace: name });
  expect(items).toHaveLength(count);
  for (const job of items) {
    const { annotations = {}, name: what } = job.metadata;
    expect([isComplete(job), job.status?.succeeded, job.status?.failed ?? 0, annotations[EPOCH]], what).toEqual([
      true,
      1,
      0,
      "1",
    ]);
    expect(["east", "west"], what).toContain(annotations[CLUSTER]);
  }
}

/** What the attackers did shows in their own namespaces and their own cluster alone. */
async function expectNothingElsewhere(fleet: RealFleet): Promise<void> {
  for (const cluster of ["east", "west"]) {
    const { api } = fleet.worker(cluster);
    const inhabited = new Set((await api.list(jobs)).items.map(({ metadata }) => metadata.namespace));
    for (const { metadata } of (await api.list(pods)).items) inhabited.add(metadata.namespace);
    for (const namespace of inhabited) expect(["honest", "mallory", "trudy"], cluster).toContain(namespace);
    // The fakes stayed what they are: nobody ran them, deleted them, or took their pods for an honest Job's.
    const fakes = (await api.list(jobs, { namespace: "trudy" }).catch(() => ({ items: [] }))).items;
    for (const fake of fakes.filter(({ spec }) => spec.managedBy !== undefined))
      expect([fake.metadata.name, fake.status?.active ?? 0]).toEqual([fake.metadata.name, 0]);
    const marked = fakes.filter(
      ({ metadata, spec }) => metadata.labels?.[HUB_UID_LABEL] !== undefined && spec.managedBy,
    );
    expect(marked.map(({ metadata }) => metadata.name)).toEqual([]);
    const privileged = (await api.list(jobs, { namespace: "mallory" })).items;
    expect(privileged.filter(({ metadata }) => /^(root|account)-/.test(metadata.name ?? ""))).toEqual([]);
    const { status } = await fleet.hub.api.get(workerClusters, { name: cluster });
    expect(status?.conditions?.find(({ type }) => type === "Ready")?.status, cluster).toBe("True");
  }
  const hub = (await fleet.hub.api.list(jobs)).items.filter(({ metadata }) => metadata.namespace !== "honest");
  expect(new Set(hub.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["mallory"]));
  const kept = (await fleet.hub.api.list(namespaces)).items.map(({ metadata }) => metadata.name);
  expect(kept).toContain("jobferry-system");
}

interface Watch {
  readonly jobs: Map<string, Job>;
  /** When each was first seen to be finished. */
  readonly finishedAt: Map<string, number>;
  stop(): void;
}

async function watchJobs(fleet: RealFleet, namespace: string): Promise<Watch> {
  const stop = new AbortController();
  const seen: Watch = { jobs: new Map(), finishedAt: new Map(), stop: () => stop.abort() };
  const reflector = new Reflector({ api: fleet.hub.api, clock: realClock, resource: jobs, namespace });
  const note = (job: Job): void => {
    const { name = "" } = job.metadata;
    seen.jobs.set(name, job);
    if (isFinished(job) && !seen.finishedAt.has(name)) seen.finishedAt.set(name, performance.now());
  };
  reflector.addHandler({
    added: note,
    updated: (_, job) => note(job),
    deleted: ({ metadata }) => void seen.jobs.delete(metadata.name ?? ""),
  });
  void reflector.start(stop.signal);
  await reflector.whenSynced();
  return seen;
}

/** From creation to what a client sees as the end, in ms. */
async function runHonest(
  at: FleetNamespace<RealFleet>,
  watch: Watch,
  prefix: string,
  count: number,
  everyMs: number,
): Promise<number[]> {
  const created = new Map<string, number>();
  for (let index = 0; index < count; index++) {
    const name = `${prefix}-${index}`;
    created.set(name, performance.now());
    const env = [{ name: "PASSWORD", value: CANARY }];
    await at.submit(name, {
      labels: { app: "honest" },
      // The way to keep Jobs from clusters that one does not trust.
      annotations: { [CLUSTER_SELECTOR]: "name in (east,west)" },
      pod: { labels: { app: "honest" }, spec: { containers: [{ name: "main", image: "none", env }] } },
    });
    await sleep(realClock, everyMs);
  }
  const names = [...created.keys()];
  const missing = () => names.filter((name) => !watch.finishedAt.has(name));
  await at.until(`all Jobs of ${prefix} are finished`, async () => missing().length === 0);
  return names.map((name) => (watch.finishedAt.get(name) ?? 0) - (created.get(name) ?? 0));
}

function percentile(durations: readonly number[], percent: number): number {
  const sorted = durations.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0);
}
