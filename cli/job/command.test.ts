/** `jobferry explain` and `jobferry queue` on a sandbox hub. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import {
  CLUSTER,
  EPOCH,
  HUB_MANAGED_BY,
  MESSAGE,
  PRIORITY,
  QUEUE_LABEL,
  RETRY,
} from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { runQueue } from "../queue/command.ts";
import { runExplain } from "./command.ts";
import { runRetry } from "./retry.ts";

const crds: Resource = {
  ...{ group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" },
  ...{ kind: "CustomResourceDefinition", namespaced: false },
};

const directory = mkdtempSync(join(tmpdir(), "jobferry-explain-"));
const kubeconfig = join(directory, "kubeconfig");
const hub = new SandboxCluster({ name: "hub", seed: 1 });

beforeAll(async () => {
  await hub.start();
  for (const name of ["workerclusters", "jobqueues"]) {
    const text = readFileSync(new URL(`../../deploy/crds/${name}.yaml`, import.meta.url), "utf8");
    await hub.api.create(crds, undefined, parse(text) as KubeObject);
  }
  const queue = { metadata: { name: "night" }, spec: { weight: 3, clusterSelector: { matchLabels: { zone: "eu" } } } };
  await hub.api.create(jobQueues, undefined, queue);
  const status = { pending: 2, share: "0.25", usage: { cpu: "1500m" }, waiting: { NoRoom: 2 } };
  await hub.api.patch(jobQueues, { name: "night" }, { type: "merge", body: { status } }, { subresource: "status" });
  const cluster = (name: string, zone: string, cordoned: boolean) =>
    hub.api.create(workerClusters, undefined, {
      metadata: { name, labels: { zone } },
      spec: { publicKey: `${"k".repeat(43)}=`, cordoned },
    });
  await cluster("berlin", "eu", true);
  await cluster("boston", "us", false);
  writeFileSync(kubeconfig, (await hub.serve()).kubeconfig);
});
afterAll(async () => {
  await hub.stop();
  rmSync(directory, { recursive: true });
});

async function explain(name: string, flags: Record<string, unknown> = {}): Promise<string> {
  const lines: string[] = [];
  await runExplain(name, { flags: { kubeconfig, ...flags }, env: {} }, (line) => void lines.push(line));
  return lines.join("\n");
}

async function queue(verb: "list" | "pause" | "resume", name?: string): Promise<string> {
  const lines: string[] = [];
  await runQueue(verb, name, { flags: { kubeconfig }, env: {} }, (line) => void lines.push(line));
  return lines.join("\n");
}

const submit = (name: string, metadata: Job["metadata"] = {}, spec: Partial<Job["spec"]> = {}): Promise<Job> =>
  hub.api.create<Job>(jobs, "default", {
    metadata: { name, ...metadata },
    spec: {
      managedBy: HUB_MANAGED_BY,
      template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } },
      ...spec,
    },
  });

it("a Job that waits is told its place, the manager's reason, each cluster's obstacle and the commands that help", async () => {
  const labels = { [QUEUE_LABEL]: "night" };
  await submit("first", { labels, annotations: { [PRIORITY]: "5" } });
  await submit("second", { labels, annotations: { [MESSAGE]: "waiting: berlin: cordoned; boston: not in the queue" } });
  expect((await explain("second")).split("\n")).toEqual([
    "Job default/second: waiting",
    "queue night, place 2 of 2, priority 0",
    "its queue holds cpu 1500m (share 0.25)",
    "waiting: berlin: cordoned; boston: not in the queue",
    "",
    "Clusters",
    "  berlin: it is cordoned",
    "  boston: its labels do not match the selector of the queue night",
    "",
    "What would have to change",
    "  berlin: jobferry cluster uncordon berlin",
  ]);
});

it("--output json has the same, for programs", async () => {
  const said = JSON.parse(await explain("second", { output: "json" })) as Record<string, unknown>;
  expect(said).toMatchObject({
    job: "default/second",
    phase: "waiting",
    queue: "night",
    position: { place: 2, of: 2 },
    clusters: [{ name: "berlin", obstacle: "it is cordoned" }, { name: "boston" }],
  });
});

it("a Job that has a cluster is told where it is, and in which epoch", async () => {
  const annotations = { [CLUSTER]: "berlin", [EPOCH]: "2", [MESSAGE]: "dispatched to berlin" };
  await submit("placed", { annotations });
  expect(await explain("placed")).toBe(
    "Job default/placed: assigned on berlin (epoch 2)\nqueue default, priority 0\ndispatched to berlin",
  );
});

it.each([
  ["a suspended Job", { suspend: true }, {}, /it is suspended: kubectl patch job .* '\{"spec":\{"suspend":false\}\}'/],
  ["a wish that nobody understands", {}, { annotations: { [PRIORITY]: "high" } }, /correct it: annotation .*"high"/],
  ["a Job of the hub's own controller", { managedBy: undefined }, {}, /create the Job again/],
])("%s is told what to do", async (what, spec, metadata, expected) => {
  const name = what.replaceAll(/[^a-z]+/g, "-");
  await submit(name, metadata, spec as Partial<Job["spec"]>);
  expect(await explain(name)).toMatch(expected);
});

it("a name that is not there ends with one sentence that says where it looked", async () => {
  await expect(explain("nowhere", { namespace: "team-a" })).rejects.toMatchObject({
    exitCode: 2,
    message: "there is no Job nowhere in namespace team-a; --namespace says where to look",
  });
});

it("retry marks a Job that waits, and says why it would mean nothing to others", async () => {
  const lines: string[] = [];
  const given = { flags: { kubeconfig }, env: {} };
  await runRetry("second", given, (line) => void lines.push(line));
  expect(lines).toEqual([
    "Job default/second is tried again; jobferry explain second --namespace default says what came of it",
  ]);
  const marked = await hub.api.get(jobs, { namespace: "default", name: "second" });
  expect(Date.parse(marked.metadata.annotations?.[RETRY] ?? "")).toBeGreaterThan(0);
  await expect(runRetry("placed", given, () => {})).rejects.toMatchObject({
    exitCode: 2,
    message: "Job default/placed is on cluster berlin and waits for nothing",
  });
});

it("queue list counts what waits by its reason, and pause and resume change the queue", async () => {
  const said = await queue("list");
  expect(said).toMatch(/NAME +PAUSED +WEIGHT +RUNNING +WAITING +SHARE +USAGE +WAITING FOR/);
  expect(said).toMatch(/^night +false +3 +0 +2 +0.25 +cpu=1500m +NoRoom=2 *$/m);
  expect(said).toContain("night: 1 Job: waiting: berlin: cordoned; boston: not in the queue");
  await queue("pause", "night");
  expect(await explain("second")).toContain("its queue is paused: jobferry queue resume night");
  expect(await queue("resume", "night")).toMatch(/^night +false/m);
  await expect(queue("pause", "day")).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("there is no JobQueue day"),
  });
});
