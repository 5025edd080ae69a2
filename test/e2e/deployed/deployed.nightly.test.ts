/**
 * Our images under real kubelets, from deploy/ as it is shipped: they become Ready under their probes and security contexts, and
 * Jobs with real containers end right while they are rolled, drained, killed and cut off from power. JOBFERRY_DEPLOYED_JOBS says
 * during how many Jobs each of this happens.
 */
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, leases, pods } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../fleet/until.ts";
import { installPackages } from "../../harness/apt.ts";
import { outputOf, runCommand } from "../../harness/run-command.ts";
import { realNodesMissing } from "../../real-node/requirements.ts";
import { DeployedFleet, readyPod, type Site, SYSTEM } from "./deployed-fleet.ts";

const JOBS = Number(process.env.JOBFERRY_DEPLOYED_JOBS ?? 8);
const LIMIT_MS = 240_000 + JOBS * 10_000;
vi.setConfig({ testTimeout: 2 * LIMIT_MS, hookTimeout: 600_000 });

const missing = (await realNodesMissing()) ?? (await imageBuilderMissing());
beforeEach(({ skip }) => skip(missing !== undefined, missing));

async function imageBuilderMissing(): Promise<string | undefined> {
  const there = async () => (await runCommand("buildah", ["--version"]).catch(() => undefined))?.code === 0;
  if ((await there()) || (await installPackages("images", ["buildah"], console.error))) return undefined;
  return "buildah, which builds the images, is missing";
}

const fleet = new DeployedFleet();
/** Every pod of the workers that was seen to have succeeded, by Job. */
const succeeded = new Map<string, Set<string>>();
const watching = new AbortController();

beforeAll(async () => {
  if (missing !== undefined) return;
  await fleet.start(["east"]);
  for (const { cluster } of fleet.workers.values()) {
    const reflector = new Reflector({ api: cluster.api, clock: realClock, resource: pods, namespace: "default" });
    const seen = ({ metadata, status }: Pod): void => {
      const job = metadata.labels?.["batch.kubernetes.io/job-name"];
      if (status?.phase !== "Succeeded" || job === undefined) return;
      succeeded.set(job, (succeeded.get(job) ?? new Set()).add(metadata.uid ?? ""));
    };
    reflector.addHandler({ added: seen, updated: (_, pod) => seen(pod) });
    void reflector.start(watching.signal);
    await reflector.whenSynced();
  }
});
afterAll(async () => {
  watching.abort();
  if (missing === undefined) await fleet.stop();
});

const kubectl = ({ cluster }: Site, ...args: string[]): Promise<string> => outputOf(cluster.kubectl(...args));
const read = (name: string): Promise<Job> => fleet.hub.cluster.api.get(jobs, { namespace: "default", name });
const condition = ({ status }: Job, type: string): string | undefined =>
  status?.conditions?.find((each) => each.type === type)?.status;

async function submit(prefix: string, count = JOBS): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  for (const name of names)
    await fleet.hub.cluster.api.create(jobs, "default", {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name },
      spec: {
        managedBy: "jobferry.dev/manager",
        backoffLimit: 10, // each fault may cost a pod
        template: {
          spec: {
            restartPolicy: "Never",
            terminationGracePeriodSeconds: 1,
            automountServiceAccountToken: false,
            containers: [{ name: "main", image: "busybox:1", command: ["sh", "-c", `echo ${name}; sleep 1`] }],
          },
        },
      },
    } as Job);
  return names;
}

/** In the middle: something has ended, not all. */
async function untilInTheMiddle(names: readonly string[]): Promise<void> {
  await until(
    "the first Job is complete",
    async () => (await Promise.all(names.map(read))).some((job) => condition(job, "Complete") === "True"),
    { limitMs: LIMIT_MS, explain: () => fleet.logs(fleet.hub.cluster) },
  );
}

async function expectAllRight(names: readonly string[]): Promise<void> {
  const open = async (): Promise<string[]> =>
    (await Promise.all(names.map(read)))
      .filter((job) => condition(job, "Complete") !== "True" && condition(job, "Failed") !== "True")
      .map((job) => `${job.metadata.name}: ${JSON.stringify(job.status)} ${JSON.stringify(job.metadata.annotations)}`);
  await until("all Jobs have ended", async () => (await open()).length === 0, {
    limitMs: LIMIT_MS,
    everyMs: 500,
    explain: async () => `${(await open()).join("\n")}\n${await fleet.logs(fleet.hub.cluster)}`,
  });
  const ended = await Promise.all(names.map(read));
  const outcome = (job: Job) => ({
    name: job.metadata.name,
    complete: condition(job, "Complete"),
    succeeded: job.status?.succeeded,
    pods: succeeded.get(job.metadata.name ?? "")?.size,
  });
  expect(ended.map(outcome)).toEqual(names.map((name) => ({ name, complete: "True", succeeded: 1, pods: 1 })));
}

/** Jobs, something done in the middle of them, and the end of all. */
async function during(name: string, fault: () => Promise<void>): Promise<void> {
  const names = await submit(name);
  await untilInTheMiddle(names);
  await fault();
  await expectAllRight(names);
}

/** The container of one of our pods ends, as by a crash; its kubelet starts it again. */
async function killContainer(site: Site, pod: string): Promise<void> {
  const path =
    "{.spec.nodeName} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}";
  const look = async () => (await kubectl(site, "get", "pod", pod, "-n", SYSTEM, "-o", `jsonpath=${path}`)).split(" ");
  const [node = "", id = "", restarts] = await look();
  const task = id.replace("containerd://", "");
  const killed = site.nodes.get(node)?.run("ctr", "-n", "k8s.io", "task", "kill", "--signal", "SIGKILL", task);
  if (killed !== undefined) await outputOf(killed);
  await until("the container is started again", async () => Number((await look())[2]) > Number(restarts));
}

/** The node that a pod is on. */
const nodeOf = (site: Site, pod: string): Promise<string> =>
  kubectl(site, "get", "pod", pod, "-n", SYSTEM, "-o", "jsonpath={.spec.nodeName}");

async function leader(): Promise<string> {
  const { spec } = await fleet.hub.cluster.api.get(leases, { namespace: SYSTEM, name: "jobferry-manager" });
  const holder = spec?.holderIdentity ?? "";
  const names = await kubectl(fleet.hub, "get", "pods", "-n", SYSTEM, "-o", "jsonpath={.items[*].metadata.name}");
  return names.split(" ").find((name) => holder.includes(name)) ?? readyPod(fleet.hub, "jobferry-manager");
}

describe("Jobferry under real kubelets", () => {
  it("becomes Ready as it is shipped, confined as it says", async () => {
    for (const [site, app, replicas] of [
      [fleet.hub, "jobferry-manager", 2],
      [fleet.worker("east"), "jobferry-agent", 1],
    ] as const) {
      const path = "{.status.readyReplicas} {.status.unavailableReplicas}";
      const status = await kubectl(site, "get", "deployment", app, "-n", SYSTEM, "-o", `jsonpath=${path}`);
      expect(status.trim()).toBe(String(replicas));
      const pod = await readyPod(site, app);
      const inside = (program: string) => kubectl(site, "exec", pod, "-n", SYSTEM, "--", "node", "-e", program);
      const proc = "console.log(process.getuid(), require('fs').readFileSync('/proc/self/status', 'utf8'))";
      const told = await inside(proc);
      expect(told).toMatch(/^65532 /);
      expect(told).toMatch(/^CapEff:\s+0000000000000000$/m);
      expect(told).toMatch(/^Seccomp:\s+2$/m);
      expect(told).toMatch(/^NoNewPrivs:\s+1$/m);
      await expect(inside("require('fs').writeFileSync('/file', '')")).rejects.toThrow("EROFS");
    }
    expect(await fleet.denied()).toEqual([]);
  });

  it("is rolled", async () => {
    await during("rolled", async () => {
      await kubectl(fleet.hub, "rollout", "restart", "deployment/jobferry-manager", "-n", SYSTEM);
      await kubectl(fleet.worker("east"), "rollout", "restart", "deployment/jobferry-agent", "-n", SYSTEM);
      await fleet.untilDeployed(fleet.hub, "jobferry-manager");
      await fleet.untilDeployed(fleet.worker("east"), "jobferry-agent");
    });
  });

  it("is drained, one manager at a time", async () => {
    await during("drained", async () => {
      for (const [site, app] of [
        [fleet.hub, "jobferry-manager"],
        [fleet.worker("east"), "jobferry-agent"],
      ] as const) {
        const node = await nodeOf(site, app === "jobferry-manager" ? await leader() : await readyPod(site, app));
        const flags = ["--ignore-daemonsets", "--delete-emptydir-data", "--timeout=3m"];
        await kubectl(site, "drain", node, ...flags);
        await fleet.untilDeployed(site, app);
        expect(await nodeOf(site, await readyPod(site, app))).not.toBe(node);
        await kubectl(site, "uncordon", node);
      }
    });
    // Of two managers on one node, the budget lets one go, and the other after the first is back elsewhere.
    const budget = "{.status.currentHealthy} {.status.disruptionsAllowed}";
    const path = ["get", "pdb", "jobferry-manager", "-n", SYSTEM, "-o", `jsonpath=${budget}`];
    await until("the budget is whole again", async () => (await kubectl(fleet.hub, ...path)) === "2 1");
  });

  it("is killed: containers crash, pods are deleted", async () => {
    await during("killed", async () => {
      await killContainer(fleet.hub, await leader());
      await killContainer(fleet.worker("east"), await readyPod(fleet.worker("east"), "jobferry-agent"));
      await kubectl(fleet.hub, "delete", "pod", await leader(), "-n", SYSTEM, "--grace-period=0", "--force");
      const agent = await readyPod(fleet.worker("east"), "jobferry-agent");
      await kubectl(fleet.worker("east"), "delete", "pod", agent, "-n", SYSTEM);
    });
    await fleet.untilDeployed(fleet.hub, "jobferry-manager");
    await fleet.untilDeployed(fleet.worker("east"), "jobferry-agent");
  });

  it("loses the power of the nodes that lead, which come back", async () => {
    await during("powerless", async () => {
      const east = fleet.worker("east");
      const lost = [
        fleet.hub.nodes.get(await nodeOf(fleet.hub, await leader())),
        east.nodes.get(await nodeOf(east, await readyPod(east, "jobferry-agent"))),
      ].filter((node) => node !== undefined);
      expect(lost).toHaveLength(2);
      await Promise.all(lost.map((node) => node.kill()));
      await Promise.all(lost.map((node) => node.start()));
    });
    await fleet.untilDeployed(fleet.hub, "jobferry-manager");
    await fleet.untilDeployed(fleet.worker("east"), "jobferry-agent");
    expect(await fleet.denied()).toEqual([]);
  });

  it("shows logs on the hub from deploy/hub-pods, through the address of the manager's pod", async () => {
    await fleet.apply(fleet.hub, "hub-pods");
    await fleet.untilDeployed(fleet.hub, "jobferry-manager");
    // The Node is Ready while a manager leads that shows pods: until then one of those before it may lead.
    const ready = ["wait", "--for=condition=Ready", "node/jobferry", "--timeout=5s"];
    await until("a manager leads that shows pods", async () => (await fleet.hub.cluster.kubectl(...ready)).code === 0);
    const names = await submit("shown", 1);
    await expectAllRight(names);
    const logs = () => fleet.hub.cluster.kubectl("logs", `job/${names[0]}`, "--pod-running-timeout=1s");
    await until("the hub has the log", async () => (await logs()).stdout === `${names[0]}\n`, {
      explain: async () => `${(await logs()).stderr}${await fleet.logs(fleet.hub.cluster)}`,
    });
  });
});
