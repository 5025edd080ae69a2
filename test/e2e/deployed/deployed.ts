/**
 * Our images under real kubelets, from deploy/ as it is shipped: they become Ready under their probes and security contexts, and
 * Jobs with real containers end right while they are rolled, drained, killed and cut off from power.
 */
import { leases, pods } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../fleet/until.ts";
import { installPackages } from "../../harness/apt.ts";
import { outputOf, runCommand } from "../../harness/run-command.ts";
import { realNodesMissing } from "../../real-node/requirements.ts";
import { DeployedFleet, readyPod, type Site, SYSTEM } from "./deployed-fleet.ts";
import { Work } from "./work.ts";

interface Extent {
  /** How many run during each fault. */
  readonly jobs: number;
  /** Programs that hang are among the faults: the kubelet takes a minute and a half to see it. */
  readonly hanging: boolean;
}

async function imageBuilderMissing(): Promise<string | undefined> {
  const there = async () => (await runCommand("buildah", ["--version"]).catch(() => undefined))?.code === 0;
  if ((await there()) || (await installPackages("images", ["buildah"], console.error))) return undefined;
  return "buildah, which builds the images, is missing";
}

const kubectl = ({ cluster }: Site, ...args: string[]): Promise<string> => outputOf(cluster.kubectl(...args));

/** The container of one of our pods gets a signal, and its kubelet starts it again: it has ended, or does not answer its probe. */
async function untilStartedAgain(site: Site, pod: string, signal: "SIGKILL" | "SIGSTOP"): Promise<void> {
  const restarts = async (): Promise<number> => {
    const { status } = await site.cluster.api.get(pods, { namespace: SYSTEM, name: pod });
    return status?.containerStatuses?.[0]?.restartCount ?? 0;
  };
  const before = await restarts();
  const path = "jsonpath={.spec.nodeName} {.status.containerStatuses[0].containerID}";
  const [node = "", id = ""] = (await kubectl(site, "get", "pod", pod, "-n", SYSTEM, "-o", path)).split(" ");
  const task = id.replace("containerd://", "");
  const sent = site.nodes.get(node)?.run("ctr", "-n", "k8s.io", "task", "kill", "--signal", signal, task);
  if (sent === undefined) throw new Error(`${pod} is on ${node}, which is not ours`);
  await outputOf(sent);
  await until("the container is started again", async () => (await restarts()) > before, {
    ...{ limitMs: 240_000, everyMs: 250 },
  });
}

/** The node that a pod is on. */
const nodeOf = (site: Site, pod: string): Promise<string> =>
  kubectl(site, "get", "pod", pod, "-n", SYSTEM, "-o", "jsonpath={.spec.nodeName}");

export async function deployedJobferry({ jobs, hanging }: Extent): Promise<void> {
  const limitMs = 240_000 + jobs * 10_000;
  vi.setConfig({ testTimeout: 2 * limitMs, hookTimeout: 600_000 });
  const missing = (await realNodesMissing()) ?? (await imageBuilderMissing());
  beforeEach(({ skip }) => skip(missing !== undefined, missing));

  const fleet = new DeployedFleet();
  const work = new Work(fleet, limitMs);
  beforeAll(async () => {
    if (missing !== undefined) return;
    await fleet.start(["east"]);
    await work.watch();
  });
  afterAll(async () => {
    work.close();
    if (missing === undefined) await fleet.stop();
  });

  const agentPod = (): Promise<string> => readyPod(fleet.worker("east"), "jobferry-agent");

  async function leader(): Promise<string> {
    const { spec } = await fleet.hub.cluster.api.get(leases, { namespace: SYSTEM, name: "jobferry-manager" });
    const holder = spec?.holderIdentity ?? "";
    const { items } = await fleet.hub.cluster.api.list(pods, { namespace: SYSTEM });
    const names = items.map(({ metadata }) => metadata.name ?? "");
    return names.find((name) => holder.includes(name)) ?? readyPod(fleet.hub, "jobferry-manager");
  }

  async function untilDeployed(): Promise<void> {
    await fleet.untilDeployed(fleet.hub, "jobferry-manager");
    await fleet.untilDeployed(fleet.worker("east"), "jobferry-agent");
  }

  describe(`Jobferry under real kubelets, ${jobs} Jobs during each fault`, () => {
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
      await work.during("rolled", jobs, async () => {
        await kubectl(fleet.hub, "rollout", "restart", "deployment/jobferry-manager", "-n", SYSTEM);
        await kubectl(fleet.worker("east"), "rollout", "restart", "deployment/jobferry-agent", "-n", SYSTEM);
        await untilDeployed();
      });
    });

    it("is drained, one manager at a time", async () => {
      await work.during("drained", jobs, async () => {
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
      await work.during("killed", jobs, async () => {
        const east = fleet.worker("east");
        await untilStartedAgain(fleet.hub, await leader(), "SIGKILL");
        await untilStartedAgain(east, await agentPod(), "SIGKILL");
        await kubectl(fleet.hub, "delete", "pod", await leader(), "-n", SYSTEM, "--grace-period=0", "--force");
        await kubectl(east, "delete", "pod", await agentPod(), "-n", SYSTEM);
      });
      await untilDeployed();
    });

    if (hanging)
      it("hangs, and is killed by its kubelets", async () => {
        await work.during("hanging", jobs, async () => {
          await Promise.all([
            untilStartedAgain(fleet.hub, await leader(), "SIGSTOP"),
            untilStartedAgain(fleet.worker("east"), await agentPod(), "SIGSTOP"),
          ]);
        });
        await untilDeployed();
      });

    it("loses the power of the nodes that lead, which come back", async () => {
      await work.during("powerless", jobs, async () => {
        const east = fleet.worker("east");
        const lost = [
          fleet.hub.nodes.get(await nodeOf(fleet.hub, await leader())),
          east.nodes.get(await nodeOf(east, await agentPod())),
        ].filter((node) => node !== undefined);
        expect(lost).toHaveLength(2);
        await Promise.all(lost.map((node) => node.kill()));
        await Promise.all(lost.map((node) => node.start()));
      });
      await untilDeployed();
      expect(await fleet.denied()).toEqual([]);
    });

    it("shows logs on the hub from deploy/hub-pods, through the address of the manager's pod", async () => {
      await fleet.apply(fleet.hub, "hub-pods");
      await fleet.untilDeployed(fleet.hub, "jobferry-manager");
      // The Node is Ready while a manager leads that shows pods: until then one of those before it may lead.
      const ready = ["wait", "--for=condition=Ready", "node/jobferry", "--timeout=5s"];
      await until("a manager leads that shows pods", async () => {
        return (await fleet.hub.cluster.kubectl(...ready)).code === 0;
      });
      const names = await work.submit("shown", 1);
      await work.expectAllRight(names);
      const logs = () => fleet.hub.cluster.kubectl("logs", `job/${names[0]}`, "--pod-running-timeout=1s");
      await until("the hub has the log", async () => (await logs()).stdout === `${names[0]}\n`, {
        explain: async () => `${(await logs()).stderr}${await fleet.logs(fleet.hub.cluster)}`,
      });
    });
  });
}
