/** Pods and logs on the hub of containers that really run: kubelet, containerd and runc on the worker, nothing stands in. */
import { createHash } from "node:crypto";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LocalCluster } from "../../harness/real-cluster.ts";
import { type RealNode, realNode } from "../../real-node/real-node.ts";
import { realNodesMissing } from "../../real-node/requirements.ts";
import type { FleetNamespace, JobOptions } from "../dispatch/fleet-namespace.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { startHubWithLogs } from "./log-fleet.ts";

const missing = await realNodesMissing();
let fleet: RealFleet;
let node: RealNode | undefined;
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  if (missing !== undefined) return;
  ({ fleet, stop } = await startHubWithLogs({ realNodes: true, agentFlags: ["--retention-seconds", "600"] }));
  // One file holds all that a container of these tests writes.
  const worker = fleet.worker("east") as LocalCluster;
  node = await realNode(worker, { name: "node-1", kubelet: { containerLogMaxSize: "500Mi" } });
}, 300_000);
afterAll(async () => {
  await node?.stop();
  await stop?.();
});
beforeEach(({ skip }) => skip(missing !== undefined, missing));

const shell = (script: string, more: Partial<PodSpec> = {}): JobOptions => ({
  pod: { spec: { containers: [{ name: "main", image: "busybox:1", command: ["sh", "-c", script] }], ...more } },
});

const shadows = async ({ name }: FleetNamespace) =>
  (await fleet.hub.api.list(pods, { namespace: name, labelSelector: SHADOW_LABEL })).items;

const kubectl = async (at: FleetNamespace, ...args: string[]): Promise<string> => {
  const { stdout, stderr } = await fleet.hub.kubectl(...args, "-n", at.name);
  return stdout || stderr;
};

describe.concurrent("a container's output is read on the hub", () => {
  it("with every option, after its end", async () => {
    const at = await fleet.namespace("options");
    const init = { name: "prepare", image: "busybox:1", command: ["echo", "prepared"] };
    await at.submit("pi", shell("echo one; echo two; echo three", { initContainers: [init] }));
    await at.untilFinished("pi");
    expect(await kubectl(at, "logs", "job/pi", "-c", "main")).toBe("one\ntwo\nthree\n");
    expect(await kubectl(at, "logs", "job/pi", "-c", "prepare")).toBe("prepared\n");
    expect(await kubectl(at, "logs", "job/pi", "-c", "main", "--tail=1")).toBe("three\n");
    expect(await kubectl(at, "logs", "job/pi", "-c", "main", "--limit-bytes=5")).toBe("one\nt");
    expect(await kubectl(at, "logs", "job/pi", "-c", "main", "--timestamps", "--tail=1")).toMatch(
      /^\d{4}-.*Z three\n$/,
    );
    expect(await kubectl(at, "logs", "job/pi", "-c", "main", "--since=1h")).toBe("one\ntwo\nthree\n");
    expect(await kubectl(at, "logs", "job/pi", "-c", "main", "--since-time=2100-01-01T00:00:00Z")).toBe("");
    expect(await kubectl(at, "logs", "-l", "job-name=pi", "-c", "main")).toBe("one\ntwo\nthree\n");
    expect(await kubectl(at, "logs", "job/pi", "--all-containers")).toMatch(
      /prepared[\s\S]*three|three[\s\S]*prepared/,
    );
    expect(await kubectl(at, "logs", "job/pi", "-c", "nobody")).toMatch(/container nobody is not valid/);
    expect(await kubectl(at, "wait", "pod", "-l", "job-name=pi", "--for=jsonpath={.status.phase}=Succeeded")).toMatch(
      /condition met/,
    );
  });

  it("while it is written", async () => {
    const at = await fleet.namespace("followed");
    await at.submit("pi", shell("for i in 1 2 3 4 5; do echo line $i; sleep 1; done"));
    await fleet.until("the container runs", async () => (await shadows(at))[0]?.status?.phase === "Running");
    expect(await kubectl(at, "logs", "-f", "job/pi")).toBe("line 1\nline 2\nline 3\nline 4\nline 5\n");
  });

  it("of its life before a restart", async () => {
    const at = await fleet.namespace("previous");
    const script = "if [ -e /work/again ]; then echo second; sleep 600; fi; touch /work/again; echo first; exit 3";
    const volumeMounts = [{ name: "work", mountPath: "/work" }];
    const containers = [{ name: "main", image: "busybox:1", command: ["sh", "-c", script], volumeMounts }];
    const spec = { restartPolicy: "OnFailure" as const, volumes: [{ name: "work", emptyDir: {} }], containers };
    await at.submit("pi", { pod: { spec } });
    await fleet.until("the container was restarted", async () => {
      const [shadow] = await shadows(at);
      return shadow?.status?.containerStatuses?.[0]?.restartCount === 1 && shadow.status.phase === "Running";
    });
    await fleet.until("it writes", async () => (await kubectl(at, "logs", "job/pi")) === "second\n");
    expect(await kubectl(at, "logs", "job/pi", "--previous")).toBe("first\n");
    const [shadow] = await shadows(at);
    expect(shadow?.status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
      exitCode: 3,
      reason: "Error",
    });
    await at.delete("pi", "Background");
  });

  it("byte by byte as on the worker", async () => {
    const at = await fleet.namespace("bytes");
    await at.submit("pi", shell("head -c 20000000 /dev/urandom"));
    await at.untilFinished("pi");
    const name = (await shadows(at))[0]?.metadata.name ?? "";
    const [worker] = await at.pods("pi");
    const hashOf = async (kubeconfig: string, namespace: string, pod: string): Promise<string> => {
      const { api } = await openClient({ kubeconfig }, {}, {});
      const hash = createHash("sha256");
      let bytes = 0;
      const log = await api.readLog({ namespace, name: pod }, { container: "main" }, AbortSignal.timeout(120_000));
      for await (const chunk of log) {
        hash.update(chunk);
        bytes += chunk.length;
      }
      await api.close();
      return `${bytes} ${hash.digest("hex")}`;
    };
    const here = await hashOf(fleet.hub.kubeconfigPath, at.name, name);
    const there = await hashOf(fleet.worker("east").kubeconfigPath, at.mapped, worker?.pod.metadata.name ?? "");
    expect(here).toBe(there);
    // What the kubelet keeps of arbitrary bytes: it does not keep every one of them.
    expect(Number(here.split(" ")[0])).toBeGreaterThan(19_900_000);
  });
});

describe.concurrent("the hub shows of a container that", () => {
  it("has failed: its exit code, and how it came to run", async () => {
    const at = await fleet.namespace("failed");
    await at.submit("pi", { ...shell("exit 7"), spec: { backoffLimit: 0 } });
    await at.untilFinished("pi");
    const [shadow] = await shadows(at);
    expect(shadow?.status).toMatchObject({ phase: "Failed" });
    expect(shadow?.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 7, reason: "Error" });
    await fleet.until("its events are told", async () =>
      /Normal +Started .*\[east\] Scheduled: .*Started: /.test(
        await kubectl(at, "describe", "pod", shadow?.metadata.name ?? ""),
      ),
    );
  });

  it("cannot start: why", async () => {
    const at = await fleet.namespace("unknown-image");
    const containers = [{ name: "main", image: "localhost/nothing:1" }];
    await at.submit("pi", { pod: { spec: { containers } } });
    await fleet.until("the shadow says so", async () => {
      const state = (await shadows(at))[0]?.status?.containerStatuses?.[0]?.state;
      return /ErrImagePull|ImagePullBackOff/.test(state?.waiting?.reason ?? "");
    });
    const name = (await shadows(at))[0]?.metadata.name ?? "";
    await fleet.until("its events say so", async () =>
      /Warning +Failed .*nothing:1/.test(await kubectl(at, "describe", "pod", name)),
    );
    expect(await kubectl(at, "logs", "job/pi")).toMatch(/waiting to start|trying and failing to pull/);
    await at.delete("pi", "Background");
  });

  it("is deleted there: it is killed with its grace time, and the Job makes another", async () => {
    const at = await fleet.namespace("deleted");
    await at.submit("pi", shell("trap 'echo asked to go; exit 143' TERM; echo here; while true; do sleep 0.2; done"));
    await fleet.until("it runs", async () => (await shadows(at))[0]?.status?.phase === "Running");
    const name = (await shadows(at))[0]?.metadata.name ?? "";
    const following = kubectl(at, "logs", "-f", name);
    await fleet.until("it has written", async () => (await kubectl(at, "logs", name)) === "here\n");
    await kubectl(at, "delete", "pod", name, "--wait=true", "--timeout=120s");
    expect(await following).toMatch(/^here\nasked to go\n/);
    await fleet.until("another is shown", async () => {
      const [next] = await shadows(at);
      return next !== undefined && next.metadata.name !== name && next.status?.phase === "Running";
    });
    await at.delete("pi", "Background");
  });
});
