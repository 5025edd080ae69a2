/** `jobferry up --hub ... --worker ...` on real control planes. */
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { guardedDirectory } from "../harness/guarded-process.ts";
import { realCluster } from "../harness/real-cluster.ts";
import type { RealCluster } from "../harness/real-cluster-options.ts";
import { type CommandResult, runCommand } from "../harness/run-command.ts";
import { ExistingFleetProcess } from "./existing-fleet.ts";

const main = join(import.meta.dirname, "../../cli/main.ts");
const directory = guardedDirectory("up-existing");
const LIMIT = { timeout: 90_000, interval: 200 };
// Each starts the whole program several times.
vi.setConfig({ testTimeout: 300_000 });

let hub: RealCluster;
let east: RealCluster;
let west: RealCluster;
beforeAll(async () => {
  const start = () => realCluster({ controllers: ["garbage-collector-controller"], instantPods: true });
  [hub, east, west] = await Promise.all([start(), start(), start()]);
}, 300_000);
afterAll(async () => {
  await Promise.all([hub, east, west].map((cluster) => cluster?.stop()));
  await directory.remove();
});

const fleet = (): string[] => ["--hub", hub.kubeconfigPath, "--worker", `east=${east.kubeconfigPath}`];

async function up(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ExistingFleetProcess> {
  const started = await ExistingFleetProcess.start(args, env);
  onTestFinished(() => started.kill());
  return started;
}

const jobferry = (...args: string[]): Promise<CommandResult> =>
  runCommand(process.execPath, [main, ...args], { env: { ...process.env, REDIS_URL: "" }, timeoutMs: 250_000 });

const submit = (name: string, { pod = {}, annotations = {} } = {}): Promise<Job> =>
  hub.api.create(jobs, "default", {
    metadata: { name, annotations },
    spec: {
      managedBy: "jobferry.dev/manager",
      template: {
        metadata: { annotations: pod },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] },
      },
    },
  });
const stateOf = async (name: string): Promise<string> => {
  const { status } = await hub.api.get(jobs, { namespace: "default", name });
  if ((status?.active ?? 0) > 0) return "active";
  return status?.conditions?.find(({ status, type }) => status === "True" && type === "Complete")?.type ?? "";
};

test("checks and says what it would do, does it, runs Jobs, and goes on where it ended", async () => {
  const workers = [...fleet(), "--worker", `west=${west.kubeconfigPath}`];
  const dry = await jobferry("up", ...workers, "--dry-run");
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing was changed") });
  expect(dry.stdout).toMatch(/CustomResourceDefinition\/workerclusters\.jobferry\.dev would be applied/);
  expect(dry.stdout).toMatch(/WorkerCluster\/west would be applied/);
  await expect(hub.api.list(workerClusters)).rejects.toSatisfy(isNotFound);

  const first = await up(workers);
  expect(first.said).toContainEqual({
    event: "applied",
    cluster: "hub",
    object: "Namespace/jobferry-system",
    outcome: "applied",
  });
  await submit("pi");
  await submit("long", { pod: { "instant-pods/run": "forever" } });
  await expect.poll(() => stateOf("pi"), LIMIT).toBe("Complete");
  await expect.poll(() => stateOf("long"), LIMIT).toBe("active");
  await expect
    .poll(() => first.said.filter(({ event, job }) => event === "job" && job === "default/pi"), LIMIT)
    .toContainEqual(expect.objectContaining({ state: "Complete", cluster: expect.stringMatching(/^(east|west)$/) }));
  await first.interrupt();
  expect(first.said.at(-1)).toMatchObject({ event: "stopped" });

  const second = await up(workers);
  await expect
    .poll(() => second.said, LIMIT)
    .toContainEqual(expect.objectContaining({ event: "job", job: "default/long", state: "Running" }));
  const deleted = await hub.kubectl("delete", "job", "long", "--wait", "--timeout=80s");
  expect(deleted).toMatchObject({ code: 0 });
  const left = [east, west].map(async ({ api }) => (await api.list(jobs, { namespace: "default" })).items);
  expect((await Promise.all(left)).flat().filter(({ metadata }) => metadata.name === "long")).toEqual([]);
  await second.interrupt();
});

/** Processes that work below `folder`: a private Redis has its own there. */
async function workingIn(folder: string): Promise<number[]> {
  const { stdout } = await runCommand("sh", ["-c", "ls -d /proc/[0-9]*"]);
  const found = stdout
    .trim()
    .split("\n")
    .map(async (process) => ((await readlink(`${process}/cwd`).catch(() => "")).startsWith(folder) ? [process] : []));
  return (await Promise.all(found)).flat().map((process) => Number(process.slice("/proc/".length)));
}

/** A redis-server that starts once, and never again. */
async function fickleRedis(): Promise<string> {
  const folder = join(directory.path, "fickle");
  await mkdir(folder);
  const { stdout } = await runCommand("sh", ["-c", "command -v redis-server || command -v valkey-server"]);
  const script = `#!/bin/sh\n[ -e ${folder}/used ] && exit 1\ntouch ${folder}/used\nexec ${stdout.trim()} "$@"\n`;
  await writeFile(join(folder, "redis-server"), script, { mode: 0o755 });
  return folder;
}

test("ends with a clear sentence when its Redis cannot be started again", async () => {
  const folder = join(directory.path, "tmp-fickle");
  await mkdir(folder);
  const PATH = `${await fickleRedis()}:${process.env.PATH}`;
  const ending = await up([...fleet(), "--log-level", "silent"], { TMPDIR: folder, PATH });
  for (const pid of await workingIn(folder)) process.kill(pid, "SIGKILL");
  expect(await ending.exited).toEqual([1, null]);
  expect(ending.errors).toMatch(/^jobferry: the private Redis .* could not be started again in 5 tries; .* --redis\n$/);
});

test("a hub that is its own worker runs Jobs in mapped namespaces", async () => {
  await hub.kubectl("create", "namespace", "ferry-default");
  const own = await up(["--hub", hub.kubeconfigPath, "--worker", `self=${hub.kubeconfigPath}`]);
  expect(own.said).toContainEqual({ event: "ownWorker", worker: "self", namespacePrefix: "ferry-" });
  await submit("own", { annotations: { "jobferry.dev/cluster-selector": "name=self" } });
  await expect.poll(() => stateOf("own"), LIMIT).toBe("Complete");
  expect((await hub.kubectl("get", "pods", "-n", "ferry-default", "-o", "name")).stdout).toMatch(/^pod\/own-/);
  await own.interrupt();
});

/** A kubeconfig with the address of nothing. */
async function nowhere(): Promise<string> {
  const file = join(directory.path, "nowhere.yaml");
  const config = await readFile(hub.kubeconfigPath, "utf8");
  await writeFile(file, config.replace(hub.url, "https://127.0.0.1:1"));
  return file;
}

describe("beside a fleet that runs", () => {
  const folder = join(directory.path, "tmp");
  let running: ExistingFleetProcess | undefined;
  beforeAll(async () => {
    await mkdir(folder);
    running = await ExistingFleetProcess.start(fleet(), { TMPDIR: folder });
  }, 300_000);
  afterAll(() => running?.interrupt().finally(() => running?.kill()));

  test.concurrent("its Redis that dies is started again, and Jobs go on", async () => {
    await submit("before");
    await expect.poll(() => stateOf("before"), LIMIT).toBe("Complete");
    const [before, ...others] = await workingIn(folder);
    expect([typeof before, others]).toEqual(["number", []]);
    process.kill(before ?? 0, "SIGKILL");
    await submit("after");
    await expect.poll(() => stateOf("after"), LIMIT).toBe("Complete");
    const [after] = await workingIn(folder);
    expect(after).not.toBe(before);
  });

  test.concurrent("another one leaves the hub alone", async () => {
    expect(await jobferry("up", ...fleet(), "--log-level", "silent")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--hub: \S+ manages this hub already; stop it/),
    });
  });

  test.concurrent("names what is wrong with the clusters, and the fix", async () => {
    const plain = await hub.serviceAccount({ name: "plain", clusterRules: [] });
    const reader = await hub.serviceAccount({
      name: "reader",
      clusterRules: [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get"] }],
    });
    const cases: [string[], RegExp][] = [
      [
        ["--hub", await nowhere(), ...fleet().slice(2)],
        /--hub: https:\/\/127\.0\.0\.1:1 does not answer .*check that the/,
      ],
      [[...fleet(), "--worker", `twin=${east.kubeconfigPath}`], /--worker east and --worker twin are the same cluster/],
      [
        [...fleet(), "--worker", `x=${east.kubeconfigPath}#no`],
        /--worker x: .*has no context "no": choose one of test/,
      ],
      [["--hub", plain, ...fleet().slice(2)], /--hub: the namespace kube-system cannot be read .*may get namespaces/],
      [
        ["--hub", reader, ...fleet().slice(2)],
        /--hub: .* does not let this user list jobs\.batch, .*administrator's kube/,
      ],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await jobferry("up", ...args);
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^jobferry: [^\n]*\n$/);
      expect(code).toBe(2);
    }
  });
});
