import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "@jobferry/shared/kube/client.ts";
import { isForbidden } from "@jobferry/shared/kube/errors.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type LocalCluster, localCluster } from "./real-cluster.ts";

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
  afterAll(() => cluster?.stop());

  it("runs a Job to completion on a scheduled node with the stand-in kubelet", async () => {
    await cluster.api.create(jobs, "default", aJob);
    const waited = await cluster.kubectl("wait", "--for=condition=complete", "job/one", "--timeout=30s");
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
    const reader = createClient({ kubeconfig });
    expect((await reader.list(jobs, { namespace: "default" })).items).toBeDefined();
    await expect(reader.list(jobs)).rejects.toSatisfy(isForbidden);
    await expect(reader.list(pods, { namespace: "default" })).rejects.toSatisfy(isForbidden);
    await reader.close();
  });

  it("leaves no process and no folder behind", async () => {
    const other = await localCluster();
    const { directory } = other.controlPlane;
    expect(await processesIn(directory)).toEqual(["etcd", "kube-apiserver"]);
    await other.stop();
    expect(await processesIn(directory)).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });

  it.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)("dies with the test run that started it: %s", async (signal) => {
    const runner = spawn(process.execPath, ["--input-type=module", "-e", hangingRunner], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const directory = await new Promise<string>((resolve) => {
      createInterface({ input: runner.stdout }).once("line", resolve);
    });
    expect(await processesIn(directory)).toEqual(["etcd", "kube-apiserver"]);
    runner.kill(signal);
    await vi.waitUntil(async () => (await processesIn(directory)).length === 0, { timeout: 10_000, interval: 50 });
    await vi.waitUntil(() => !existsSync(directory), { timeout: 10_000, interval: 50 });
  });

  it("says which program is missing from KUBEBUILDER_ASSETS", async () => {
    vi.stubEnv("KUBEBUILDER_ASSETS", "/nonexistent");
    await expect(localCluster()).rejects.toThrow("/nonexistent holds no etcd");
    vi.unstubAllEnvs();
  });
});

const hangingRunner = `
  import { localCluster } from ${JSON.stringify(new URL("./real-cluster.ts", import.meta.url).href)};
  const cluster = await localCluster();
  console.log(cluster.controlPlane.directory);
  setInterval(() => {}, 1000);
`;

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
