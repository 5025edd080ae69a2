import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import type { ContainerStatus, Pod } from "@jobferry/shared/job/types.ts";
import { configMaps, pods, secrets } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SandboxCluster } from "../cluster.ts";
import type { LogOptions } from "./logs.ts";
import { NodePlane } from "./node-plane.ts";
import { aPod } from "./testing/pod.ts";

const cluster = new SandboxCluster({ kubelet: "none" });
const events: string[] = [];
const plane = new NodePlane({
  api: cluster.apiFor("nodes"),
  clock: realClock,
  clusterName: "real",
  kubelet: "process",
  restartBackoff: { baseMs: 100, maxMs: 1000 },
  events: (pod, _type, reason, message) => events.push(`${pod.metadata.name} ${reason}: ${message}`),
});
beforeAll(() => plane.start());
afterAll(async () => {
  await plane.stop();
  await cluster.stop();
});

const sh = (script: string) => ({ command: ["/bin/sh", "-c", script] });
const phaseIs = (phase: string) => (pod: Pod | undefined) => pod?.status?.phase === phase;
const isDone = (pod: Pod | undefined): boolean => phaseIs("Succeeded")(pod) || phaseIs("Failed")(pod);
const isGone = (pod: Pod | undefined): boolean => pod === undefined;

/** Waits for the watch to show the pod in this state. */
async function until(name: string, holds: (pod: Pod | undefined) => boolean): Promise<Pod> {
  const { pods: cache } = plane.reflectors;
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    if (holds(cache.get("default", name))) resolve();
  };
  cache.addHandler({ added: check, updated: check, deleted: check });
  check();
  await promise;
  return cache.get("default", name) ?? aPod(name);
}

async function run(pod: Pod): Promise<Pod> {
  await cluster.api.create(pods, "default", pod);
  return until(pod.metadata.name ?? "", isDone);
}
const first = (pod: Pod): ContainerStatus => pod.status?.containerStatuses?.[0] as ContainerStatus;

async function logs(pod: Pod, options: LogOptions = {}): Promise<string> {
  const log = plane.log(pod.metadata.uid ?? "", "c0", options.previous);
  let text = "";
  for await (const piece of log?.read(options) ?? []) text += piece;
  return text;
}

/** Processes whose command line contains `text`. */
async function processesWith(text: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,args="]);
  return stdout.split("\n").filter((line) => line.includes(text));
}

test("a command's output and exit code", async () => {
  const pod = await run(aPod("hello", { containers: [sh('echo "hello $NAME"; echo oops >&2; exit 3')] }));
  expect(pod.status?.phase).toBe("Failed");
  expect(first(pod).state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
  expect((await logs(pod)).split("\n").sort()).toEqual(["", "hello ", "oops"]);
  expect(events.find((event) => event.startsWith("hello ImageIgnored"))).toContain('image "busybox" was not pulled');
});

test("environment, arguments and working directory", async () => {
  await cluster.api.create(configMaps, "default", { metadata: { name: "words" }, data: { greeting: "hi" } });
  const pod = await run(
    aPod("env", {
      containers: [
        {
          command: ["printf", "%s|"],
          args: ["$(GREETING) $(POD)", "$$(POD)"],
          workingDir: "/app",
          env: [
            { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
            { name: "GREETING", valueFrom: { configMapKeyRef: { name: "words", key: "greeting" } } },
          ],
        },
      ],
    }),
  );
  expect(await logs(pod)).toBe("hi env|$(POD)|");
  const where = await run(aPod("where", { containers: [{ ...sh("pwd; echo $HOSTNAME"), workingDir: "/app" }] }));
  expect(await logs(where)).toMatch(/\/app\nwhere\n$/);
});

test("nothing of this process's environment leaks into a pod", async () => {
  process.env.JOBFERRY_TEST_SECRET = "x";
  const pod = await run(aPod("clean", { containers: [sh("env")] }));
  expect(await logs(pod)).not.toContain("JOBFERRY_TEST_SECRET");
});

test("a missing config map is waited for", async () => {
  const valueFrom = { configMapKeyRef: { name: "later", key: "x" } };
  const pod = aPod("config", { containers: [{ ...sh("echo $V"), env: [{ name: "V", valueFrom }] }] });
  await cluster.api.create(pods, "default", pod);
  const reason = (state: Pod | undefined): boolean =>
    state?.status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerConfigError";
  expect(first(await until("config", reason)).state?.waiting?.message).toBe('configmap "later" not found');
  await cluster.api.create(configMaps, "default", { metadata: { name: "later" }, data: { x: "found" } });
  expect(await logs(await until("config", isDone))).toBe("found\n");
});

test("volumes of ConfigMaps and Secrets, with their modes, below the pod's home", async () => {
  const bytes = Buffer.from([0, 255]).toString("base64");
  await cluster.api.create(configMaps, "default", {
    ...{ metadata: { name: "files" }, data: { a: "text", b: "other" }, binaryData: { bytes } },
  });
  await cluster.api.create(secrets, "default", { metadata: { name: "login" }, data: { password: "c2VjcmV0" } });
  const script = [
    "cd $HOME; cat etc/files/a; echo; od -An -tx1 etc/files/bytes; stat -c %a etc/files/a",
    "cat etc/login/p/w; echo; stat -c %a etc/login/p/w; ls etc/login",
    "cat etc/both/a etc/both/password; echo; cat etc/single; echo; ls etc/none | wc -l",
    "cat etc/../../escaped 2>&1 | grep -c text",
  ].join("; ");
  const mount = (name: string, mountPath: string, subPath?: string) => ({ name, mountPath, subPath });
  const pod = await run(
    aPod("volumes", {
      containers: [
        {
          ...sh(script),
          volumeMounts: [
            ...[mount("files", "/etc/files"), mount("login", "/etc/login"), mount("both", "/etc/both")],
            ...[mount("files", "/etc/single", "b"), mount("none", "/etc/none"), mount("files", "../../escaped")],
          ],
        },
      ],
      volumes: [
        { name: "files", configMap: { name: "files", defaultMode: 0o440 } },
        { name: "login", secret: { secretName: "login", items: [{ key: "password", path: "p/w", mode: 0o400 }] } },
        {
          name: "both",
          projected: { sources: [{ configMap: { name: "files" } }, { secret: { name: "login" } }] },
        },
        { name: "none", configMap: { name: "absent", optional: true } },
      ],
    }),
  );
  expect(await logs(pod)).toBe(
    ["text", " 00 ff", "440", "secret", "400", "p", "textsecret", "other", "0", "0", ""].join("\n"),
  );
});

test("a volume whose ConfigMap is missing is waited for", async () => {
  const pod = aPod("unmounted", {
    containers: [{ ...sh("cat $HOME/v/x"), volumeMounts: [{ name: "v", mountPath: "/v" }] }],
    volumes: [{ name: "v", configMap: { name: "comes" } }],
  });
  await cluster.api.create(pods, "default", pod);
  const waits = (state: Pod | undefined): boolean =>
    state?.status?.containerStatuses?.[0]?.state?.waiting?.message === 'configmap "comes" not found';
  await until("unmounted", waits);
  await cluster.api.create(configMaps, "default", { metadata: { name: "comes" }, data: { x: "found" } });
  expect(await logs(await until("unmounted", isDone))).toBe("found");
});

test("a signal that ends a process is 128 and its number", async () => {
  const pod = await run(aPod("signal", { containers: [sh("kill -SEGV $$$$")] }));
  expect(first(pod).state?.terminated).toMatchObject({ exitCode: 139 });
});

test.each([
  ["missing", { command: ["no-such-program"] }, /exec: "no-such-program": executable file not found in \$PATH/],
  ["unknown", { image: "example.com/app" }, /set "command" in container "c0"/],
])("a command that cannot be started (%s) ends with 128 and says why", async (name, container, message) => {
  const pod = await run(aPod(name, { containers: [container] }));
  expect(pod.status?.phase).toBe("Failed");
  const terminated = first(pod).state?.terminated as { exitCode: number; reason: string; message: string };
  expect(terminated).toMatchObject({ exitCode: 128, reason: "StartError" });
  expect(terminated.message).toMatch(message);
});

test("OnFailure restarts, and the log of the run before is kept", async () => {
  const script = "echo run >> runs; cat runs; test $(wc -l < runs) -ge 3";
  const pod = await run(aPod("retry", { restartPolicy: "OnFailure", containers: [sh(script)] }));
  expect(pod.status?.phase).toBe("Succeeded");
  expect(first(pod)).toMatchObject({ restartCount: 2, lastState: { terminated: { exitCode: 1 } } });
  expect(await logs(pod)).toBe("run\nrun\nrun\n");
  expect(await logs(pod, { previous: true })).toBe("run\nrun\n");
});

test("init containers prepare, a sidecar is ended after the apps", async () => {
  const pod = await run(
    aPod("init", {
      initContainers: [
        { name: "prepare", image: "busybox", ...sh("echo ready > $HOME/state") },
        {
          name: "side",
          image: "busybox",
          restartPolicy: "Always",
          ...sh("trap 'exit 0' TERM; touch $HOME/up; while :; do sleep 0.05; done"),
        },
      ],
      containers: [sh("until [ -e $HOME/up ]; do sleep 0.02; done; cat $HOME/state")],
    }),
  );
  expect(pod.status?.phase).toBe("Succeeded");
  expect(await logs(pod)).toBe("ready\n");
  expect(pod.status?.initContainerStatuses).toMatchObject([
    { state: { terminated: { exitCode: 0 } } },
    { state: { terminated: { exitCode: 0 } } },
  ]);
});

test("deletion lets a process finish its work; one that does not is killed with all its children", async () => {
  const polite = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done";
  const stubborn = "trap '' TERM; sleep 98765 & sleep 98765 & echo up; wait";
  for (const [name, script, seconds] of [
    ["polite", polite, 30],
    ["stubborn", stubborn, 1],
  ] as const) {
    const finalizers = ["example.com/keep"];
    const spec = { finalizers, terminationGracePeriodSeconds: seconds, containers: [sh(script)] };
    await cluster.api.create(pods, "default", aPod(name, spec));
    const pod = await until(name, phaseIs("Running"));
    for await (const text of plane.log(pod.metadata.uid ?? "", "c0")?.read({ follow: true }) ?? [])
      if (text.includes("up")) break;
    await cluster.api.delete(pods, { namespace: "default", name });
  }
  const polited = await until("polite", isDone);
  expect(polited.status?.phase).toBe("Succeeded");
  expect(await logs(polited)).toBe("up\nbye\n");
  const killed = await until("stubborn", isDone);
  expect(first(killed).state?.terminated?.exitCode).toBe(137);
  expect(await processesWith("sleep 98765")).toEqual([]);
});

test("without finalizers a deleted pod goes away, and its log with it", async () => {
  await cluster.api.create(
    pods,
    "default",
    aPod("gone", { terminationGracePeriodSeconds: 0, containers: [sh("sleep 600")] }),
  );
  const { metadata } = await until("gone", phaseIs("Running"));
  await cluster.api.delete(pods, { namespace: "default", name: "gone" }, { gracePeriodSeconds: 1 });
  await until("gone", isGone);
  expect(plane.log(metadata.uid ?? "", "c0")).toBeUndefined();
});

test("the pod's deadline ends its process", async () => {
  const pod = await run(aPod("late", { activeDeadlineSeconds: 1, containers: [{ command: ["sleep", "600"] }] }));
  expect(pod.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  expect(first(pod).state?.terminated?.exitCode).toBe(143);
});

test("a child that outlives its parent inside the group is ended with it", async () => {
  const pod = await run(aPod("orphan", { containers: [sh("sleep 87654 & echo left")] }));
  expect(pod.status?.phase).toBe("Succeeded");
  expect(await processesWith("sleep 87654")).toEqual([]);
});

const STRAYS = `
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { NodePlane } from "@jobferry/sandbox/nodes/node-plane.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
const cluster = new SandboxCluster({ kubelet: "none" });
const plane = new NodePlane({ api: cluster.api, clock: realClock, clusterName: "c", kubelet: "process" });
await plane.start();
const script = "trap '' TERM INT HUP; sleep $1 & setsid sleep $1 & wait";
const container = { name: "c", image: "x", command: ["/bin/sh", "-c", script, "sh", process.argv[1]] };
for (const name of ["a", "b"])
  await cluster.api.create(pods, "default", { metadata: { name }, spec: { containers: [container] } });
process.stdin.once("data", async () => { await plane.stop(); process.exit(0); });
`;

test.each([
  ["when its cluster is stopped", "76543", (child: ReturnType<typeof spawn>) => child.stdin?.write("stop\n")],
  ["when this process is killed", "76542", (child: ReturnType<typeof spawn>) => child.kill("SIGKILL")],
])("no process is left %s, not even one that left its group", async (_, seconds, end) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", STRAYS, seconds], {
    stdio: ["pipe", "ignore", "inherit"],
    cwd: import.meta.dirname,
  });
  const exited = once(child, "exit");
  const running = async (): Promise<number> => (await processesWith(`sleep ${seconds}`)).length;
  await expect.poll(running, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
  end(child);
  await exited;
  await expect.poll(running, { timeout: 10_000 }).toBe(0);
});
