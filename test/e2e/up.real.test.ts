import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { guardedDirectory } from "../harness/guarded-process.ts";
import { controlPlaneAssets } from "../harness/real-cluster-options.ts";
import { type CommandResult, runCommand } from "../harness/run-command.ts";

const main = join(import.meta.dirname, "../../cli/main.ts");
const directory = guardedDirectory("up");
const DEMO_MS = 250_000;
const POLL = { timeout: 60_000, interval: 100 };
/** No other run of these tests on this machine sleeps this long. */
const ENDLESS = `sleep ${10_000_000 + process.pid}`;
let kubectl: string;
let demo: Promise<CommandResult>;
beforeAll(async () => {
  kubectl = join(await controlPlaneAssets(), "kubectl");
  // It mostly waits for a worker to be lost, so it does that beside the other tests.
  demo = runCommand(process.execPath, [main, "up", "--demo", "--exit", "--dir", join(directory.path, "demo")], {
    timeoutMs: DEMO_MS,
  });
  demo.catch(() => {});
});
afterAll(async () => {
  await demo?.catch(() => {});
  await directory.remove();
}, DEMO_MS);

interface Cluster {
  name: string;
  role: string;
  url: string;
  kubeconfig: string;
}

interface Fleet {
  child: ChildProcess;
  clusters: Cluster[];
  exited: Promise<[number | null, string | null]>;
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

/** Starts `jobferry up` and waits until it says that it is ready. */
const up = (name: string, ...args: string[]): Promise<Fleet> => upWith({}, name, ...args);

async function upWith(env: NodeJS.ProcessEnv, name: string, ...args: string[]): Promise<Fleet> {
  const child = spawn(
    process.execPath,
    [main, "up", "--output", "json", "--dir", join(directory.path, name), ...args],
    {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  children.push(child);
  const exited = once(child, "exit") as Fleet["exited"];
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as { event: string; clusters: Cluster[] };
    if (event.event === "ready") return { child, clusters: event.clusters, exited };
  }
  throw new Error("jobferry up ended before it was ready");
}

const on = (cluster: Cluster | undefined, ...args: string[]): Promise<CommandResult> =>
  runCommand(kubectl, ["--kubeconfig", cluster?.kubeconfig ?? "", ...args], {
    env: { ...process.env, KUBECACHEDIR: join(directory.path, "cache", cluster?.url.slice(-5) ?? "") },
  });

/** Runs kubectl and expects it to succeed. */
async function ok(cluster: Cluster | undefined, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await on(cluster, ...args);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

/** Command lines of all processes that contain `text`. */
async function processesWith(text: string): Promise<string[]> {
  const { stdout } = await runCommand("ps", ["-eo", "args="]);
  return stdout.split("\n").filter((line) => line.includes(text));
}

test("a fresh fleet runs a Job on every cluster with stock kubectl, and Ctrl-C leaves nothing behind", async () => {
  const fleet = await up("jobs");
  expect(fleet.clusters.map(({ name, role }) => `${name} ${role}`)).toEqual([
    "hub hub",
    "worker-1 worker",
    "worker-2 worker",
  ]);
  await Promise.all(
    fleet.clusters.map(async (cluster) => {
      await ok(
        cluster,
        "create",
        "job",
        "hello",
        "--image=busybox",
        "--",
        "sh",
        "-c",
        `echo hello from ${cluster.name}`,
      );
      await ok(cluster, "wait", "--for=condition=complete", "job/hello", "--timeout=60s");
      expect(await ok(cluster, "logs", "job/hello")).toBe(`hello from ${cluster.name}\n`);
    }),
  );
  const [hub] = fleet.clusters;
  await ok(
    hub,
    "create",
    "job",
    "endless",
    "--image=busybox",
    "--",
    "sh",
    "-c",
    `trap '' TERM; ${ENDLESS} & ${ENDLESS}`,
  );
  await expect.poll(() => processesWith(ENDLESS), POLL).not.toEqual([]);
  fleet.child.kill("SIGINT");
  expect(await fleet.exited).toEqual([0, null]);
  expect(await processesWith(ENDLESS)).toEqual([]);
  for (const { kubeconfig } of fleet.clusters) expect(existsSync(kubeconfig)).toBe(false);
});

const ferried = JSON.stringify({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "ferried" },
  spec: {
    managedBy: "jobferry.dev/manager",
    template: {
      spec: {
        restartPolicy: "Never",
        containers: [{ name: "main", image: "busybox", command: ["echo", "ferried"] }],
      },
    },
  },
});

/** What pods need, and no Redis. */
async function poorPath(): Promise<string> {
  const folder = join(directory.path, "bin");
  await mkdir(folder);
  const { stdout } = await runCommand("sh", ["-c", "command -v /bin/echo"]);
  await symlink(stdout.trim(), join(folder, "echo"));
  return folder;
}

test.each([
  ["its usual messages", {}],
  ["messages in memory where there is no Redis", { PATH: "poor", REDIS_URL: "" }],
])("a Job on the hub is run by a worker, with %s", async (how, env: NodeJS.ProcessEnv) => {
  const fleet = await upWith(env.PATH === "poor" ? { ...env, PATH: await poorPath() } : env, how.replaceAll(" ", "-"));
  const [hub, ...workers] = fleet.clusters;
  const file = join(directory.path, "ferried.json");
  await writeFile(file, ferried);
  await ok(hub, "create", "-f", file);
  await ok(hub, "wait", "--for=condition=complete", "job/ferried", "--timeout=60s");
  const cluster = await ok(
    hub,
    "get",
    "job",
    "ferried",
    "-o",
    "jsonpath={.metadata.annotations.jobferry\\.dev/cluster}",
  );
  await ok(hub, "wait", "--for=jsonpath={.status.phase}=Succeeded", "pods", "-l", "job-name=ferried", "--timeout=60s");
  expect(await ok(hub, "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")).toBe("jobferry");
  expect(await ok(hub, "logs", "job/ferried")).toBe("ferried\n");
  const worker = workers.find(({ name }) => name === cluster);
  expect(await ok(worker, "get", "pods", "-o", "jsonpath={.items[*].status.phase}")).toBe("Succeeded");
  fleet.child.kill("SIGINT");
  expect(await fleet.exited).toEqual([0, null]);
});

test("the label of a namespace hands its Jobs to a worker, without a change to them", async () => {
  const fleet = await up("labelled", "--workers", "1");
  const [hub, worker] = fleet.clusters;
  await ok(hub, "label", "namespace", "default", "jobferry.dev/dispatch=enabled");
  await ok(hub, "create", "job", "plain", "--image=busybox", "--", "echo", "ferried");
  expect(await ok(hub, "get", "job", "plain", "-o", "jsonpath={.spec.managedBy}")).toBe("jobferry.dev/manager");
  await ok(hub, "wait", "--for=condition=complete", "job/plain", "--timeout=60s");
  expect(await ok(hub, "logs", "job/plain", "--tail=1")).toBe("ferried\n");
  const main = join(import.meta.dirname, "../../cli/main.ts");
  const flags = ["--all", "--kubeconfig", hub?.kubeconfig ?? ""];
  const { stdout } = await runCommand(process.execPath, [main, "logs", "plain", ...flags]);
  expect(stdout).toMatch(/^\[plain-\w+\] ferried\n$/);
  // The same through the manager, which needs no pod on the hub: here it shows none.
  const hidden = JSON.parse(ferried) as { metadata: { name: string; annotations?: Record<string, string> } };
  hidden.metadata = { name: "hidden", annotations: { "jobferry.dev/pods": "None" } };
  const file = join(directory.path, "hidden.json");
  await writeFile(file, JSON.stringify(hidden));
  await ok(hub, "create", "-f", file);
  await ok(hub, "wait", "--for=condition=complete", "job/hidden", "--timeout=60s");
  expect(await ok(hub, "get", "pods", "-l", "job-name=hidden", "-o", "name")).toBe("");
  expect(await runCommand(process.execPath, [main, "logs", "hidden", ...flags])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\[hidden-\w+\] ferried\n$/),
  });
  expect(await ok(worker, "get", "pods", "-l", "job-name=plain", "-o", "jsonpath={.items[*].status.phase}")).toBe(
    "Succeeded",
  );
  fleet.child.kill("SIGINT");
  expect(await fleet.exited).toEqual([0, null]);
});

/** Working directories below `folder` of all processes: a private Redis has its own. */
async function workingIn(folder: string): Promise<string[]> {
  const { stdout } = await runCommand("sh", ["-c", "readlink /proc/[0-9]*/cwd"]);
  return stdout.split("\n").filter((path) => path.startsWith(folder));
}

test("a private Redis ends with its fleet, even if that is killed", async () => {
  const folder = join(directory.path, "tmp");
  await mkdir(folder);
  const { child, exited } = await upWith({ TMPDIR: folder, REDIS_URL: "" }, "leash");
  expect(await workingIn(folder)).not.toEqual([]);
  child.kill("SIGKILL");
  await exited;
  await expect.poll(() => workingIn(folder), POLL).toEqual([]);
  await expect.poll(() => readdir(folder), POLL).toEqual([]);
});

test("a Redis that does not answer is named", async () => {
  const args = ["--redis", "redis://127.0.0.1:1", "--log-level", "silent", "--dir", join(directory.path, "no-redis")];
  const { code, stderr } = await jobferry("up", ...args);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^jobferry: --redis: .*start Redis there/),
  });
});

test("a demo that is cut short has not ended as expected", async () => {
  const dir = join(directory.path, "short");
  expect(await jobferry("up", "--demo", "--exit", "--exit-after", "3s", "--dir", dir)).toMatchObject({ code: 1 });
});

test("a Job that fails says so, with the exit code and the message of its pod", async () => {
  const { child, clusters, exited } = await up("failing", "--workers", "0");
  const [hub] = clusters;
  await ok(hub, "create", "job", "broken", "--image=busybox", "--", "no-such-program");
  const reason = "jsonpath={.items[*].status.containerStatuses[*].state.terminated.message}";
  await expect
    .poll(() => ok(hub, "get", "pods", "-o", reason), POLL)
    .toContain('exec: "no-such-program": executable file not found in $PATH');
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

test("killed without a chance to clean up, it still leaves no process", async () => {
  // What the killed one leaves in its temporary folder goes with ours.
  const env = { TMPDIR: directory.path };
  const { child, clusters, exited } = await upWith(env, "killed", "--workers", "0");
  await ok(clusters[0], "create", "job", "endless", "--image=busybox", "--", ...ENDLESS.split(" "));
  await expect.poll(() => processesWith(ENDLESS), POLL).not.toEqual([]);
  child.kill("SIGKILL");
  await exited;
  await expect.poll(() => processesWith(ENDLESS), POLL).toEqual([]);
  const again = await up("killed", "--workers", "0", "--exit-after", "1ms");
  expect(await again.exited).toEqual([0, null]);
});

const jobferry = (...args: string[]): Promise<CommandResult> => runCommand(process.execPath, [main, ...args]);

// What else may be wrong with the options is tested on the function behind the command.
test.concurrent.each([
  [["up", "--workers", "many"], /--workers: .*worker clusters beside the hub/],
  [["up", "--frobnicate"], /unknown option '--frobnicate'.*see jobferry up --help/],
  [["up", "extra"], /too many arguments.*see jobferry up --help/],
  [["down"], /unknown command 'down'.*see jobferry --help/],
  [[], /name a command: see jobferry --help/],
])("bad usage %j: exit code 2 and one sentence", async (args, message) => {
  const { code, stdout, stderr } = await jobferry(...args);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^jobferry: [^\n]*\n$/);
  expect(stderr).toMatch(message);
});

test("--help explains every option, --version is short", async () => {
  const help = await jobferry("up", "--help");
  expect(help.code).toBe(0);
  for (const option of ["--workers", "--port-base", "--dir", "--exit-after", "--output", "--redis", "--demo", "--hub"])
    expect(help.stdout).toContain(option);
  expect((await jobferry("--help")).stdout).toContain("up [options]");
  expect((await jobferry("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("a port that is taken is named, and nothing is left half started", async () => {
  const first = await up("first", "--workers", "0");
  const port = new URL(first.clusters[0]?.url ?? "").port;
  const second = await jobferry("up", "--port-base", port, "--dir", join(directory.path, "second"));
  expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(/--port-base: port \d+ is in use/) });
  const same = await jobferry("up", "--dir", join(directory.path, "first"));
  expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("belongs to a fleet that is running") });
  first.child.kill("SIGINT");
  await first.exited;
});

test("the demo's examples all end as expected", { timeout: DEMO_MS }, async () => {
  const { code, stdout } = await demo;
  expect(stdout).toContain("6 of 6 examples ended as expected");
  expect(stdout).not.toContain("\x1b[");
  expect(code).toBe(0);
});
