import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";
import { isForbidden } from "@jobferry/shared/kube/errors.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type LocalCluster, localCluster } from "./real-cluster.ts";

const PATIENCE = { timeout: 60_000, interval: 50 };
const PROGRAMS = ["etcd", "instant-pods", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const aJob = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "one" },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } } },
};

describe("localCluster", () => {
  let cluster: LocalCluster;
  beforeAll(async () => {
    cluster = await localCluster({
      controllers: ["job-controller"],
      nodes: [{ name: "small", cpu: "2" }],
      instantPods: true,
    });
  });
  afterAll(async () => {
    if (existsSync(cluster?.controlPlane.directory ?? "")) await cluster.stop();
  });

  it("runs a Job to completion on a scheduled node with the stand-in kubelet", async () => {
    await cluster.api.create(jobs, "default", aJob);
    const waited = await cluster.kubectl("wait", "--for=condition=complete", "job/one", "--timeout=90s");
    expect(waited).toMatchObject({ code: 0 });
    const { items } = await cluster.api.list(pods, { namespace: "default" });
    expect(items.map((pod) => pod.spec?.nodeName)).toEqual(["small"]);
  });

  it("keeps its state when the API server restarts on its port", async () => {
    const before = await cluster.api.create(namespaces, undefined, { metadata: { name: "kept" } });
    await cluster.restartApiServer();
    const after = await cluster.api.get(namespaces, { name: "kept" });
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  it("gives a service account just the rights asked for", async () => {
    const kubeconfig = await cluster.serviceAccount({
      name: "reader",
      rules: [{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["list"] }],
    });
    const reader = createClient(await findAccess({ kubeconfig }));
    expect((await reader.list(jobs, { namespace: "default" })).items).toBeDefined();
    await expect(reader.list(jobs)).rejects.toSatisfy(isForbidden);
    await expect(reader.list(pods, { namespace: "default" })).rejects.toSatisfy(isForbidden);
    await reader.close();
  });

  it("says which program is missing from KUBEBUILDER_ASSETS", async () => {
    vi.stubEnv("KUBEBUILDER_ASSETS", "/nonexistent");
    await expect(localCluster()).rejects.toThrow("/nonexistent holds no etcd");
    vi.unstubAllEnvs();
  });

  it("leaves no process and no folder behind", async () => {
    const { directory } = cluster.controlPlane;
    expect(await processesIn(directory)).toEqual(PROGRAMS);
    await cluster.stop();
    expect(await processesIn(directory)).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });
});

const file = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
const wholeCluster = `
  import { localCluster } from ${file("./real-cluster.ts")};
  const cluster = await localCluster();
  console.log(cluster.controlPlane.directory);
  setInterval(() => {}, 1000);
`;
const oneProcess = `
  import { guardedDirectory, startGuarded } from ${file("./guarded-process.ts")};
  const { path } = guardedDirectory("guarded");
  startGuarded({ name: "sleep", command: "sleep", args: ["600"], cwd: path, logFile: path + "/log" });
  console.log(path);
  setInterval(() => {}, 1000);
`;

describe("what a test run started dies with it", () => {
  it.each([
    ["a whole cluster", "SIGKILL", wholeCluster, ["etcd", "kube-apiserver"]],
    ["a single process", "SIGKILL", oneProcess, ["sleep"]],
    ["a single process", "SIGINT", oneProcess, ["sleep"]],
    ["a single process", "SIGTERM", oneProcess, ["sleep"]],
  ] as const)("%s after %s", async (_, signal, program, started) => {
    const runner = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void runner.kill("SIGKILL"));
    const [directory = ""] = (await once(createInterface({ input: runner.stdout }), "line")) as string[];
    await vi.waitUntil(async () => (await processesIn(directory)).join() === started.join(), PATIENCE);
    runner.kill(signal);
    await vi.waitUntil(async () => (await processesIn(directory)).length === 0, PATIENCE);
    await vi.waitUntil(() => !existsSync(directory), PATIENCE);
  });
});

/** The programs that work in `directory` (zombies and the shells beside them aside). */
async function processesIn(directory: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const names = await Promise.all(
    pids.map(async (pid) => {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
      const [command = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
      return cwd.startsWith(directory) ? basename(command) : "sh";
    }),
  );
  return names.filter((name) => name !== "sh").sort();
}
