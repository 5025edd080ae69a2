/**
 * The commands of docs/install.md, README.md, docs/troubleshooting.md and docs/keys.md, read from the pages, on real control planes and a real
 * Redis: from empty clusters over the first Jobs to empty clusters again. tables.ts says what is done otherwise than written.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type LocalCluster, localCluster } from "../harness/real-cluster.ts";
import { type Clone, makeClone, quietPort } from "./clone.ts";
import { type Block, blocksOf, inlineOf } from "./page.ts";
import { INLINE, INSTALL, KEYS, NOT_HERE, README, substitutions, TROUBLESHOOTING, UNTIL_CTRL_C } from "./tables.ts";
import { Terminal } from "./terminal.ts";

const REMOVAL = "Remove it";
const LIMIT = { timeout: 90_000, interval: 100 };
// Dozens of commands each; every wait among them has a limit of its own.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

let clone: Clone;
let hub: LocalCluster;
let east: LocalCluster;
let terminal: Terminal;
let filledIn: (text: string) => string;

beforeAll(async () => {
  const accounts = ["namespace-controller", "serviceaccount-controller"];
  const controllers = [...accounts, "garbage-collector-controller", "job-controller"];
  // The hub could run Jobs itself: that it does not is part of what is shown.
  const start = () => localCluster({ controllers, instantPods: true, serviceAccounts: true });
  [clone, hub, east] = await Promise.all([makeClone(), start(), start()]);
  const places = { hub: hub.kubeconfigPath, east: east.kubeconfigPath, redisFolder: clone.state };
  const table = substitutions({ ...places, redisPort: await quietPort() });
  filledIn = (text) => table.reduce((result, [from, to]) => result.replace(from, to), text);
  terminal = new Terminal({ cwd: clone.path, state: clone.state, env: clone.env });
});
afterAll(async () => {
  await terminal?.stop();
  await Promise.all([hub?.stop(), east?.stop()]);
  await clone?.remove();
});

/** What the commands of each section said so far. */
const said = new Map<string, string>();

/** Does what these blocks say, one after the other. */
async function follow(page: string, blocks: readonly Block[]): Promise<void> {
  for (const { at, section, text } of blocks) {
    if (Object.keys(NOT_HERE[page] ?? {}).some((start) => text.startsWith(start))) continue;
    const [, enough] = Object.entries(UNTIL_CTRL_C).find(([start]) => text.startsWith(start)) ?? [];
    const output = enough === undefined ? await run(at, text) : await runUntil(enough, at, text);
    said.set(section, `${said.get(section) ?? ""}${output}`);
  }
}

const run = (at: string, text: string): Promise<string> => terminal.run(at, filledIn(text));

async function runUntil(enough: RegExp, at: string, text: string): Promise<string> {
  const { output, ended } = await terminal.interrupt(at, filledIn(text), enough);
  if (!ended) throw new Error(`${at} did not end well after Ctrl-C:\n${output}`);
  return output;
}

/** Names of what kubectl gets there. */
async function namesOf(cluster: LocalCluster, ...what: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await cluster.kubectl("get", ...what, "-o", "name");
  if (code !== 0) throw new Error(`kubectl get ${what.join(" ")}: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "");
}
const fileOf = (name: string): Promise<string> => readFile(join(clone.path, name), "utf8");

async function expectDone(namespace: string, name: string): Promise<void> {
  const job = await hub.api.get(jobs, { namespace, name });
  expect(isFinished(job)).toBe(true);
  expect(job.status?.succeeded).toBe(1);
  expect(job.metadata.annotations).toMatchObject({ "jobferry.dev/cluster": "east" });
}

let keyJobs = 0;
let isBroken = false;
/** Each goes on where the one before it ended. */
function step(name: string, body: () => Promise<void>): void {
  it(name, async ({ skip }) => {
    if (isBroken) skip("an earlier step failed");
    isBroken = true;
    await body();
    isBroken = false;
  });
}

describe("every command of the documentation", () => {
  const install = blocksOf(INSTALL);
  const inSection = (...sections: string[]): Block[] => install.filter(({ section }) => sections.includes(section));

  step("install.md leads from nothing to Jobs on a worker", async () => {
    await follow(
      INSTALL,
      install.filter(({ section }) => section !== REMOVAL),
    );
    expect(said.get("The short way")).toMatch(/Ready after .* with east\.[\s\S]*Stopped\./);
    expect(said.get("1. Redis")).toMatch(/^PONG$/m);
    expect(said.get("3. Each worker/Is it there?")).toMatch(/\neast +True +True /);
    expect(said.get("4. Try it")).toMatch(/\nhello-\w+ .*Completed /);
    for (const namespace of ["default", "team-a"]) {
      await expectDone(namespace, "hello");
      expect(await namesOf(east, "pods", "-n", namespace)).toEqual([expect.stringMatching(/^pod\/hello-/)]);
    }
    // The hub runs none itself: it shows those of the worker.
    expect(await namesOf(hub, "pods", "-A", "-l", "!jobferry.dev/shadow")).toEqual([]);
    const shown = expect.stringMatching(/^pod\/hello-/);
    expect(await namesOf(hub, "pods", "-A", "--field-selector", "spec.nodeName=jobferry")).toEqual([shown, shown]);
  });

  step("install.md has manager and agent run with the rights of deploy/ and no more", async () => {
    for (const account of ["jobferry-manager", "jobferry-agent"]) {
      const whoami = `kubectl --kubeconfig ${account}.kubeconfig auth whoami -o jsonpath={.status.userInfo.username}`;
      expect(await run("whoami", whoami)).toBe(`system:serviceaccount:jobferry-system:${account}`);
      expect((await fileOf(`${account}.kubeconfig`)).match(/token:/g)).toHaveLength(1);
    }
    expect(await run("what Redis refused", "redis_admin ACL LOG")).toMatch(/^\s*$/);
    expect(await fileOf("users.acl")).toMatch(/^user jobferry-east on /m);
    const secrets = ["key.pem", "redis-password", "redis-admin-password", "agent-key.pem"];
    for (const secret of [...secrets, "agent-redis-password", "jobferry-manager.kubeconfig"])
      expect((await stat(join(clone.path, secret))).mode & 0o077).toBe(0);
  });

  step("README.md adds a cluster, submits and watches", async () => {
    await run("set-up", 'export KUBECONFIG="$HUB"; kubectl delete job hello -n team-a');
    await follow(README, blocksOf(README));
    expect(said.get("Add a cluster")).toMatch(/cluster north is enrolled/);
    expect(said.get("Watch")).toMatch(/jobferry\.dev\/cluster: east/);
    expect(said.get("Watch")).toMatch(/workercluster\.jobferry\.dev\/east +True +True/);
    await expectDone("team-a", "hello");
    await run("clean-up", 'rm east.yaml; jobferry cluster forget north --kubeconfig "$HUB"');
  });

  step("troubleshooting.md says what to look at", async () => {
    for (const { at, text } of inlineOf(TROUBLESHOOTING)) {
      const expected = INLINE[text];
      if (expected === undefined) throw new Error(`${at}: \`${text}\` is not in tables.ts`);
      if (expected instanceof RegExp) expect(await run(at, text), `${at}: ${text}`).toMatch(expected);
    }
  });

  step("troubleshooting.md enrols a cluster again", async () => {
    await follow(TROUBLESHOOTING, blocksOf(TROUBLESHOOTING));
    expect(said.get("")).toMatch(/Dispatched to cluster east/);
    await run("what only a process needs", 'kill "$AGENT"');
    await follow(INSTALL, inSection("3. Each worker/Without images", "3. Each worker/Is it there?"));
    await run("set-up", "kubectl delete job hello -n team-a");
    await follow(
      README,
      blocksOf(README).filter(({ section }) => section === "Submit"),
    );
    // Longer than README.md, for the agent has only just started.
    await run("the end", "kubectl wait --for=condition=complete job/hello -n team-a --timeout=2m");
    await expectDone("team-a", "hello");
  });

  step("keys.md changes the keys of manager and agent, and no message is refused", async () => {
    const restart = async (process: string, section: string): Promise<void> => {
      const ended = `while kill -0 "$${process}" 2> /dev/null; do sleep 0.1; done`;
      await run("what only a process needs", `kill "$${process}"; ${ended}`);
      await follow(INSTALL, inSection(section));
    };
    const logs = async (): Promise<string> => `${await fileOf("manager.log")}${await fileOf("agent.log")}`;
    // A cluster that was enrolled again a moment ago was refused for a moment, too. A restart empties a log as well.
    await run("set-up", ": > manager.log; : > agent.log");
    for (const block of blocksOf(KEYS)) {
      await follow(KEYS, [block]);
      if (block.text.includes("restart deployment/jobferry-manager"))
        await restart("MANAGER", "2. The hub/Without images");
      if (block.text.includes("restart deployment/jobferry-agent"))
        await restart("AGENT", "3. Each worker/Without images");
      if (block.section === "Changing keys") continue;
      const name = `key-${++keyJobs}`;
      await run(name, `kubectl create job ${name} -n team-a --image=busybox -- echo hello`);
      await run(name, `kubectl wait --for=condition=complete job/${name} -n team-a --timeout=2m`);
      await run(name, `kubectl delete job ${name} -n team-a`);
      expect((await logs()).split("quarantine").length - 1, block.section).toBe(0);
    }
    expect(keyJobs).toBe(19);
  });

  step("install.md removes everything again", async () => {
    const pod = { metadata: { annotations: { "instant-pods/run": "forever" } } };
    const spec = { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none" }] };
    const long = {
      metadata: { name: "long" },
      spec: { managedBy: "jobferry.dev/manager", template: { ...pod, spec } },
    };
    await hub.api.create(jobs, "default", long);
    const active = async () => (await hub.api.get(jobs, { namespace: "default", name: "long" })).status?.active;
    await expect.poll(active, LIMIT).toBe(1);
    await run("set-up", "unset KUBECONFIG");

    await follow(INSTALL, inSection(REMOVAL));
    expect(await namesOf(hub, "jobs", "-A")).toEqual(["job.batch/hello", "job.batch/hello"]);
    // The one node is the hub's own, which ours stood beside.
    expect(await namesOf(hub, "pods,nodes", "-A")).toEqual(["node/instant"]);
    expect(await namesOf(hub, "leases", "-n", "kube-node-lease")).toEqual([]);
    expect(await namesOf(east, "jobs", "-A")).toEqual([]);
    await expect.poll(() => namesOf(east, "pods", "-A"), LIMIT).toEqual([]);
    const kinds =
      "crd,clusterrole,clusterrolebinding,mutatingadmissionpolicy,mutatingadmissionpolicybinding,validatingadmissionpolicy,namespace";
    for (const cluster of [hub, east])
      expect((await namesOf(cluster, kinds)).filter((name) => name.includes("jobferry"))).toEqual([]);
    expect(await fileOf("users.acl")).not.toMatch(/jobferry-/);
    await terminal.idle();
  });

  it("tables.ts names nothing that the pages do not have", () => {
    const pages = [INSTALL, README, TROUBLESHOOTING, KEYS];
    const texts = pages.flatMap(blocksOf).map(({ text }) => text);
    const begins = [...Object.values(NOT_HERE).flatMap(Object.keys), ...Object.keys(UNTIL_CTRL_C)];
    expect(begins.filter((start) => !texts.some((text) => text.startsWith(start)))).toEqual([]);
    const inline = inlineOf(TROUBLESHOOTING).map(({ text }) => text);
    expect(Object.keys(INLINE).filter((command) => !inline.includes(command))).toEqual([]);
    const all = [...texts, ...inline].join("\n");
    const nowhere = { hub: "", east: "", redisPort: 0, redisFolder: "" };
    expect(substitutions(nowhere).filter(([from]) => all.match(from) === null)).toEqual([]);
  });
});
