/**
 * A hub of another version. Here it is the present API server that emulates an older one; JOBFERRY_OLD_KUBE_APISERVER names the
 * program of a really old one, which has then no gates to switch.
 */
import { readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { guardedDirectory } from "../harness/guarded-process.ts";
import { type LocalCluster, localCluster } from "../harness/real-cluster.ts";
import { controlPlaneAssets } from "../harness/real-cluster-options.ts";
import { ExistingFleetProcess } from "./existing-fleet.ts";

const old = process.env.JOBFERRY_OLD_KUBE_APISERVER;
const directory = guardedDirectory("old-hub");
const LIMIT = { timeout: 90_000, interval: 200 };
vi.setConfig({ testTimeout: 300_000 });
/** Read by the harness at every start of the API server. */
const featureGates: Record<string, boolean> = {};

let hub: LocalCluster;
let worker: LocalCluster;
let fleet: ExistingFleetProcess;
beforeAll(async () => {
  [hub, worker] = await Promise.all([startHub(), localCluster({ controllers: [], instantPods: true })]);
  fleet = await ExistingFleetProcess.start(["--hub", hub.kubeconfigPath, "--worker", `east=${worker.kubeconfigPath}`]);
}, 300_000);
afterAll(async () => {
  try {
    await fleet?.interrupt();
  } finally {
    fleet?.kill();
    await Promise.all([hub?.stop(), worker?.stop()]);
    await directory.remove();
  }
});

async function startHub(): Promise<LocalCluster> {
  if (old === undefined) return localCluster({ apiServerArgs: ["--emulated-version=1.33"], featureGates });
  const assets = await controlPlaneAssets();
  for (const program of await readdir(assets))
    await symlink(program === "kube-apiserver" ? old : join(assets, program), join(directory.path, program));
  vi.stubEnv("JOBFERRY_TEST_CLUSTER", "kubebuilder").stubEnv("KUBEBUILDER_ASSETS", directory.path);
  const starting = localCluster();
  return await starting.finally(() => vi.unstubAllEnvs());
}

function submit(name: string, spec: Partial<JobSpec> = {}, pod: Record<string, string> = {}): Promise<Job> {
  const template = {
    metadata: { annotations: pod },
    spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none" }] },
  };
  return hub.api.create(jobs, "default", {
    metadata: { name },
    spec: { managedBy: HUB_MANAGED_BY, ...spec, template },
  });
}

const read = (name: string): Promise<Job> => hub.api.get(jobs, { namespace: "default", name });
const edit = (name: string, spec: object): Promise<Job> =>
  hub.api.patch(jobs, { namespace: "default", name }, { type: "merge", body: { spec } });

async function finished(name: string): Promise<string[]> {
  await expect.poll(async () => isFinished(await read(name)), LIMIT).toBe(true);
  return conditions(await read(name));
}

const conditions = ({ status }: Job): string[] =>
  (status?.conditions ?? []).filter(({ status }) => status === "True").map(({ type, reason }) => `${type}/${reason}`);

async function rejections(name: string): Promise<string[]> {
  const { items } = await hub.api.list(events, { namespace: "default" });
  return items
    .filter(({ involvedObject, reason }) => involvedObject.name === name && reason === "StatusRejected")
    .map(({ message = "" }) => message);
}

const exits = (code: number) => ({ "instant-pods/exit-code": String(code) });

/** A program that was named must be what it is named for. */
function expectOlderHub(): void {
  const reached = fleet.said.filter(({ event }) => event === "reached");
  const [hubVersion, workerVersion] = reached.map(({ version }) => String(version));
  console.error(`hub ${hubVersion}, worker ${workerVersion}`);
  expect(String(hubVersion) < String(workerVersion)).toBe(true);
}

test("an older hub takes every kind of outcome as it is", async () => {
  if (old !== undefined) expectOlderHub();
  const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 } as const;
  const outcomes: [string, Partial<JobSpec>, Record<string, string>, string[]][] = [
    ["plain", {}, {}, ["SuccessCriteriaMet/CompletionsReached", "Complete/CompletionsReached"]],
    ["failed", { backoffLimit: 0 }, exits(3), ["FailureTarget/BackoffLimitExceeded", "Failed/BackoffLimitExceeded"]],
    [
      "per-index",
      { ...indexed, backoffLimitPerIndex: 0 },
      exits(3),
      ["FailureTarget/FailedIndexes", "Failed/FailedIndexes"],
    ],
    [
      "success-policy",
      { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } },
      {},
      ["SuccessCriteriaMet/SuccessPolicy", "Complete/SuccessPolicy"],
    ],
  ];
  await Promise.all(
    outcomes.map(async ([name, spec, pod, expected]) => {
      await submit(name, spec, pod);
      expect(await finished(name)).toEqual(expected);
      expect(await rejections(name)).toEqual([]);
    }),
  );
  expect((await read("per-index")).status).toMatchObject({ failed: 3, failedIndexes: "0-2" });
});

test("an older hub takes a Job that is suspended while it runs, and resumed", async () => {
  await submit("resumed", {}, { "instant-pods/run": "forever" });
  const active = async () => (await read("resumed")).status?.active ?? 0;
  await expect.poll(active, LIMIT).toBe(1);
  await edit("resumed", { suspend: true });
  await expect.poll(async () => conditions(await read("resumed")), LIMIT).toEqual(["Suspended/JobSuspended"]);
  await edit("resumed", { suspend: false });
  await expect.poll(active, LIMIT).toBe(1);
  expect(await rejections("resumed")).toEqual([]);
});

test("a hub that rejects a condition gets the others, and the Job names it", async ({ skip }) => {
  if (old !== undefined) skip("a hub with feature gates that can be switched: JOBFERRY_OLD_KUBE_APISERVER is set");
  await submit("held", { suspend: true });
  await expect.poll(async () => conditions(await read("held")), LIMIT).toEqual(["Suspended/JobSuspended"]);
  // With these off, a plain Job may not have the condition that announces success. The Job keeps its managedBy.
  Object.assign(featureGates, { JobManagedBy: false, JobPodReplacementPolicy: false });
  await hub.restartApiServer(5_000);
  await edit("held", { suspend: false });
  expect(await finished("held")).toEqual(["Complete/CompletionsReached"]);
  expect((await read("held")).status).toMatchObject({ succeeded: 1, completionTime: expect.any(String) });
  await expect
    .poll(() => rejections("held"), LIMIT)
    .toEqual([
      expect.stringMatching(
        /cluster east: The hub \(Kubernetes v1\.\S+\) rejects status\.conditions, the rest is written/,
      ),
    ]);
});
