/** `jobferry-agent jobs` as a process on a real API server, with just the rights that deploy/job-controller gives it. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs } from "@jobferry/shared/kube/resources.ts";
import { fetch } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { until as untilLooked } from "../fleet/until.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../harness/guarded-process.ts";
import { realCluster } from "../harness/real-cluster.ts";
import type { RealCluster } from "../harness/real-cluster-options.ts";

const MANAGED_BY = "jobferry.dev/worker-agent";
const root = join(import.meta.dirname, "../..");

interface Manifest {
  kind: string;
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}

async function deployedRules(): Promise<NonNullable<Manifest["rules"]>> {
  const text = await readFile(join(root, "deploy/job-controller/rbac.yaml"), "utf8");
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const rules = manifests.find(({ kind }) => kind === "ClusterRole")?.rules;
  if (rules === undefined) throw new Error("rbac.yaml has no ClusterRole with rules");
  return rules;
}

const until = <T>(what: string, look: () => Promise<T | undefined>) =>
  untilLooked(what, look, { explain: () => agent.log() });

let cluster: RealCluster;
let agent: GuardedProcess;
let url: string;
const directory = guardedDirectory("agent");

beforeAll(async () => {
  const apiServerArgs = ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"];
  cluster = await realCluster({ instantPods: true, apiServerArgs });
  const kubeconfig = await cluster.serviceAccount({ name: "job-controller", clusterRules: await deployedRules() });
  const flags = ["jobs", "--kubeconfig", kubeconfig, "--managed-by", MANAGED_BY, "--metrics-port", "0"];
  agent = startGuarded({
    name: "agent",
    command: process.execPath,
    args: [join(root, "worker-agent/main.ts"), ...flags],
    logFile: join(directory.path, "agent.log"),
  });
  url = await until("the status server", async () => /"status":"([^"]+)"/.exec(await agent.log())?.[1]);
  await until("readiness", async () => ((await fetch(`${url}/readyz`)).ok ? true : undefined));
});
afterAll(async () => {
  await agent.stop();
  await cluster.stop();
  await directory.remove();
});

async function run(name: string, spec: Partial<JobSpec>): Promise<Job> {
  const template = { spec: { containers: [{ name: "main", image: "busybox" }], restartPolicy: "Never" } };
  await cluster.api.create(jobs, "default", { metadata: { name }, spec: { managedBy: MANAGED_BY, ...spec, template } });
  return await until(`the end of ${name}`, async () => {
    const job = await cluster.api.get(jobs, { namespace: "default", name });
    return job.status?.conditions?.some(({ type }) => type === "Complete" || type === "Failed") ? job : undefined;
  });
}

it("runs Jobs to completion with the deployed rights alone", async () => {
  expect((await run("one", {})).status).toMatchObject({ succeeded: 1, ready: 0, terminating: 0 });
  const indexed = await run("many", { completionMode: "Indexed", completions: 40, parallelism: 20 });
  expect(indexed.status).toMatchObject({ succeeded: 40, completedIndexes: "0-39" });
  const recorded = await until("the events of the Job", async () => {
    const { items } = await cluster.api.list(events, { fieldSelector: "involvedObject.name=one" });
    return items.length >= 2 ? items : undefined;
  });
  expect(recorded.map(({ reason }) => reason).toSorted()).toEqual(["Completed", "SuccessfulCreate"]);
  expect(await agent.log()).not.toContain("forbidden");
});

it("serves metrics under the names of the built-in controller", async () => {
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('job_controller_jobs_finished_total{completion_mode="NonIndexed",result="succeeded"');
  expect(text).toContain('workqueue_adds_total{name="job"}');
  expect(text).toContain('workqueue_depth{name="job_orphan_pod"}');
});

it("ends within 5 s of SIGTERM", async () => {
  const began = performance.now();
  agent.kill("SIGTERM");
  await agent.ended;
  expect(performance.now() - began).toBeLessThan(5000);
});
