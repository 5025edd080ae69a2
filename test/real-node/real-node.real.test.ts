/** What a real node does for pods, what can be done to it, and that nothing of it stays. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { until } from "../fleet/until.ts";
import { type LocalCluster, localCluster } from "../harness/real-cluster.ts";
import { outputOf, runCommand } from "../harness/run-command.ts";
import { cgroupsOf, processesIn } from "./cgroups.ts";
import { machineAddress, type RealNode, realNode } from "./real-node.ts";
import { realNodesMissing } from "./requirements.ts";

const missing = await realNodesMissing();
beforeEach(({ skip }) => skip(missing !== undefined, missing));

let cluster: LocalCluster;
let node: RealNode;
beforeAll(async () => {
  if (missing !== undefined) return;
  cluster = await localCluster({ realNodes: true });
  node = await realNode(cluster);
});
afterAll(async () => {
  await node?.stop();
  await cluster?.stop();
});

const container = (command: string, more: object = {}): object => ({
  name: "main",
  image: "busybox:1",
  command: ["sh", "-c", command],
  ...more,
});

async function run(name: string, main: object, spec: object = {}): Promise<void> {
  await cluster.api.create(pods, "default", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers: [main], ...spec },
  } as never);
}

type Status = NonNullable<Awaited<ReturnType<typeof read>>["status"]>;
const read = (name: string) => cluster.api.get(pods, { namespace: "default", name });

/** The status of a pod, once it is so. */
const status = (name: string, what: string, wanted: (status: Status) => boolean): Promise<Status> =>
  until(
    `pod ${name}: ${what}`,
    async () => {
      const { status } = await read(name);
      return status !== undefined && wanted(status) && status;
    },
    { explain: async () => `${JSON.stringify((await read(name)).status, null, 1)}\n${await node.logs()}` },
  );
const ended = (name: string) => status(name, "ended", ({ phase }) => phase === "Succeeded" || phase === "Failed");
const ready = (name: string) =>
  status(name, "ready", ({ containerStatuses }) => containerStatuses?.[0]?.ready === true);
const kubectl = (...args: string[]) => outputOf(cluster.kubectl(...args));

describe.concurrent("pods on a real node", () => {
  it("run and end with their exit code and log", async () => {
    await run("three", container("echo out; echo err >&2; exit 3"));
    const { phase, containerStatuses } = await ended("three");
    expect(phase).toBe("Failed");
    expect(containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
    expect((await kubectl("logs", "three")).split("\n").sort()).toEqual(["", "err", "out"]);
  });

  it("answer HTTP probes, exec and requests from the machine, and hear SIGTERM", async () => {
    const serve = "trap 'echo bye; exit 0' TERM; httpd -p 8080 -h /etc; while :; do sleep 0.1; done";
    const probe = { readinessProbe: { httpGet: { path: "/passwd", port: 8080 }, periodSeconds: 1 } };
    await run("server", container(serve, probe), { terminationGracePeriodSeconds: 30 });
    const { podIP } = await ready("server");
    expect(await kubectl("exec", "server", "--", "hostname")).toBe("server\n");
    expect((await cluster.kubectl("exec", "server", "--", "sh", "-c", "exit 7")).code).toBe(7);
    expect(await (await fetch(`http://${podIP}:8080/passwd`)).text()).toContain("root:x:0:0");
    const followed = kubectl("logs", "-f", "server");
    await kubectl("delete", "pod", "server");
    expect(await followed).toBe("bye\n");
  });

  it("are restarted by a liveness probe", async () => {
    const probe = { livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 } };
    await run("dead", container("sleep 1000", probe), { restartPolicy: "Always" });
    await status("dead", "restarted", ({ containerStatuses }) => (containerStatuses?.[0]?.restartCount ?? 0) > 0);
    await kubectl("delete", "pod", "dead");
  });

  it("are killed beyond their memory", async () => {
    await run("hungry", {
      ...container(""),
      command: ["tail", "/dev/zero"],
      resources: { limits: { memory: "32Mi" } },
    });
    const { containerStatuses } = await ended("hungry");
    expect(containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });

  it("wait for an image that cannot be had", async () => {
    await run("imageless", { name: "main", image: "nobody/nothing:1" });
    const stuck = ({ containerStatuses }: Status): boolean =>
      /ErrImagePull|ImagePullBackOff/.test(containerStatuses?.[0]?.state?.waiting?.reason ?? "");
    await status("imageless", "without image", stuck);
    await kubectl("delete", "pod", "imageless");
  });

  it("are confined by a restricted security context", async () => {
    const look =
      "id -u; touch /file 2> /dev/null || echo read-only; touch /v/file && stat -c %g /v/file; grep ^Seccomp: /proc/self/status";
    const own = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
    await run("confined", container(look, { securityContext: own, volumeMounts: [{ name: "v", mountPath: "/v" }] }), {
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        fsGroup: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      },
      volumes: [{ name: "v", emptyDir: {} }],
    });
    await ended("confined");
    expect((await kubectl("logs", "confined")).split(/\s+/)).toEqual([
      "65532",
      "read-only",
      "65532",
      "Seccomp:",
      "2",
      "",
    ]);
  });

  it("reach the API server with their token, and the machine's loopback", async () => {
    const port = new URL(cluster.url).port;
    const reach = `cd /var/run/secrets/kubernetes.io/serviceaccount && ls
      nc $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT < /dev/null && echo service
      nc ${machineAddress} ${port} < /dev/null && echo machine`;
    await run("reaching", container(reach));
    await ended("reaching");
    expect((await kubectl("logs", "reaching")).split("\n")).toEqual([
      "ca.crt",
      "namespace",
      "token",
      "service",
      "machine",
      "",
    ]);
  });
});

/** Settings of the machine that a kubelet and a network like to change. */
const settings = async (): Promise<string> => {
  const files = ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"];
  const values = files.map((file) => readFile(`/proc/sys/${file}`, "utf8"));
  return (await Promise.all([...values, outputOf(runCommand("nft", ["list", "ruleset"]))])).join("");
};

describe("what can be done to a real node", () => {
  const healthy = async (): Promise<boolean> => {
    const signal = AbortSignal.timeout(2_000);
    const answer = await cluster.request(`/api/v1/nodes/${node.name}/proxy/healthz`, { signal }).catch(() => undefined);
    return answer?.text === "ok";
  };

  it("freeze and thaw", async () => {
    expect(await healthy()).toBe(true);
    await node.freeze();
    expect(await healthy()).toBe(false);
    await node.thaw();
    await until("kubelet answers again", healthy);
  });

  it("cut and mend its network", async () => {
    const before = await settings();
    await node.cut();
    expect(await settings()).toBe(before);
    expect(await healthy()).toBe(false);
    await node.mend();
    await until("kubelet answers again", healthy);
  });

  it("power failure and return", async () => {
    const untilTold = container("until [ -e /go ]; do sleep 0.1; done");
    await run("survivor", untilTold, { restartPolicy: "OnFailure" });
    await status("survivor", "running", ({ phase }) => phase === "Running");
    await node.kill();
    await node.start();
    const again = await status("survivor", "running again", ({ containerStatuses }) => {
      const { restartCount = 0, state } = containerStatuses?.[0] ?? {};
      return restartCount === 1 && state?.running !== undefined;
    });
    expect(again.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 255, reason: "Unknown" });
    await kubectl("exec", "survivor", "--", "touch", "/go");
    expect((await ended("survivor")).phase).toBe("Succeeded");
  });
});

/** What a node's user could find of it on the machine. */
async function traces(folder: string, cgroups: readonly string[], link: string): Promise<string[]> {
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").filter((line) => line.includes(folder));
  const left = [...cgroups, folder, `/sys/class/net/${link}`].filter((path) => existsSync(path));
  return [...mounts, ...left, ...(await processesIn(cgroups))];
}

const linkOf = async (folder: string): Promise<string> =>
  (await readFile(`${folder}/link`, "utf8")).split(" ")[0] ?? "";

const file = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
const nodeOfAnotherProcess = `
  import { localCluster } from ${file("../harness/real-cluster.ts")};
  import { realNode } from ${file("./real-node.ts")};
  const cluster = await localCluster({ realNodes: true });
  const node = await realNode(cluster);
  if (process.argv.includes("frozen")) await node.freeze();
  console.log(node.folder);
  setInterval(() => {}, 1000);
`;

describe("nothing stays of a real node", () => {
  it("after stop(), and the machine's settings were never changed", async () => {
    const before = await settings();
    const second = await realNode(cluster, { name: "node-2" });
    await run("there", container("sleep 1000"), { nodeName: "node-2" });
    await status("there", "running", ({ phase }) => phase === "Running");
    expect(await settings()).toBe(before);
    const [cgroups, link] = [await cgroupsOf(process.pid), await linkOf(second.folder)];
    const own = cgroups.filter((path) => basename(path) === basename(cgroups.at(-1) ?? ""));
    expect((await processesIn(own)).length).toBeGreaterThan(3);
    await second.stop();
    expect(await traces(second.folder, own, link)).toEqual([]);
  });

  it.each([[[]], [["frozen"]]])("after SIGKILL to the test's process (%s)", async (args) => {
    const runner: ChildProcess = spawn(
      process.execPath,
      ["--input-type=module", "-e", nodeOfAnotherProcess, "--", ...args],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    onTestFinished(() => void runner.kill("SIGKILL"));
    const [folder = ""] = (await once(createInterface({ input: runner.stdout as never }), "line")) as string[];
    const [cgroups, link] = [await cgroupsOf(runner.pid ?? 0), await linkOf(folder)];
    expect((await processesIn(cgroups)).length).toBeGreaterThan(3);
    runner.kill("SIGKILL");
    await until("nothing is left", async () => (await traces(folder, cgroups, link)).length === 0, {
      explain: async () => (await traces(folder, cgroups, link)).join("\n"),
    });
  });
});
