/**
 * Jobs whose containers really run, dispatched and with the built-in Job controller on the same node: what they come to is what
 * the table says, and the same. Only what an administrator grants is used: deploy/'s roles, the ACL's users.
 */
import { configMaps } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../fleet/until.ts";
import type { LocalCluster } from "../../harness/real-cluster.ts";
import { outputOf } from "../../harness/run-command.ts";
import { type RealNode, realNode } from "../../real-node/real-node.ts";
import { realNodesMissing } from "../../real-node/requirements.ts";
import { RealFleet } from "../dispatch/real-fleet.ts";
import { cases } from "./cases.ts";
import { Contest, contestants } from "./contest.ts";

const missing = await realNodesMissing();
beforeEach(({ skip }) => skip(missing !== undefined, missing));

const fleet = new RealFleet({
  workers: ["east"],
  workerControllers: ["job-controller"],
  realNodes: true,
  // Pods are compared after the end of their Jobs: they go with the mirror, and at home nobody removes them.
  agentFlags: ["--retention-seconds", "600"],
  // A dead node is noticed in 12 s instead of 50.
  workerApiServer: { controllerManagerArgs: ["--node-monitor-grace-period=12s"] },
});
let node: RealNode;

async function newNode(name: string): Promise<RealNode> {
  const kubelet = { nodeLeaseDurationSeconds: 8 };
  const made = await realNode(fleet.worker("east") as LocalCluster, { name, kubelet });
  fleet.attach(made);
  return made;
}

beforeAll(async () => {
  if (missing !== undefined) return;
  await fleet.start();
  node = await newNode("node-1");
  await fleet.namespace("dispatched");
  await fleet.addNamespace("east", "built-in");
  const settings = { metadata: { name: "settings" }, data: { word: "ferry" } };
  await fleet.hub.api.create(configMaps, "dispatched", settings);
  await fleet.worker("east").api.create(configMaps, "built-in", settings);
});
afterAll(async () => {
  if (missing === undefined) await fleet.stop();
});

const untilTold = ["sh", "-c", "until [ -e /go ]; do sleep 0.1; done"];

/** Tells the pods that run now to succeed. */
async function letEnd(contest: Contest): Promise<void> {
  for (const namespace of contestants)
    await until(`a pod of ${namespace} was told to end`, async () => {
      const running = (await contest.pods(namespace)).find(
        ({ metadata, status }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined,
      );
      const name = running?.metadata.name;
      if (name === undefined) return false;
      const told = await fleet.worker("east").kubectl("exec", "-n", namespace, name, "--", "touch", "/go");
      return told.code === 0;
    });
}

describe.concurrent("real containers, dispatched and at home", () => {
  it.for(Object.entries(cases).map(([name, one], number) => ({ name, number, ...one })))(
    "$name",
    async ({ number, expected, ...one }) => {
      const contest = new Contest(fleet, `case-${number}`);
      await contest.submit(one);
      const [ours, builtIn] = await Promise.all(contestants.map((contestant) => contest.outcome(contestant)));
      const { condition, ends, ...counters } = expected;
      expect(ours).toMatchObject({ succeeded: 0, failed: 0, ...counters, ...(ends === undefined ? {} : { ends }) });
      expect(ours?.conditions.at(-1)).toContain(condition.replace(" ", " True "));
      expect(ours).toEqual(builtIn);
    },
  );

  it("an eviction through the API, which a pod failure policy forgives", async () => {
    const contest = new Contest(fleet, "evicted");
    const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
    await contest.submit({
      job: { backoffLimit: 0, podFailurePolicy: { rules } as never },
      pod: { containers: [{ name: "main", image: "busybox:1", command: untilTold }] } as never,
    });
    await contest.untilRunning();
    for (const namespace of contestants)
      for (const pod of await contest.pods(namespace)) {
        const { name } = pod.metadata;
        const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
        const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
        const body = JSON.stringify(eviction);
        const headers = { "content-type": "application/json" };
        expect((await fleet.worker("east").request(path, { method: "POST", headers, body })).status).toBe(201);
      }
    await letEnd(contest);
    const [ours, builtIn] = await Promise.all(contestants.map((contestant) => contest.outcome(contestant)));
    expect(ours).toMatchObject({ succeeded: 1, failed: 0, ends: ["main 0 Completed"] });
    expect(ours).toEqual(builtIn);
  });
});

describe("a node that dies under a Job, dispatched and at home", () => {
  it("and comes back at once: its containers have failed", async () => {
    const contest = new Contest(fleet, "power-failure");
    await contest.submit({
      job: { backoffLimit: 1 },
      pod: { containers: [{ name: "main", image: "busybox:1", command: untilTold }] } as never,
    });
    await contest.untilRunning();
    await node.kill();
    await node.start();
    await until("the first pods have failed", async () => {
      const lists = await Promise.all(contestants.map((contestant) => contest.pods(contestant)));
      return lists.every((list) => list.some(({ status }) => status?.phase === "Failed"));
    });
    await letEnd(contest);
    const [ours, builtIn] = await Promise.all(contestants.map((contestant) => contest.outcome(contestant)));
    expect(ours).toMatchObject({ succeeded: 1, failed: 1, ends: ["main 0 Completed", "main 255 Unknown"] });
    expect(ours).toEqual(builtIn);
  });

  it("and comes back after its pods were given up", async () => {
    // While all nodes are gone, Kubernetes gives up no pod.
    const east = fleet.worker("east");
    await newNode("node-2");
    await outputOf(east.kubectl("cordon", "node-2"));
    const contest = new Contest(fleet, "lost-node");
    const leaveAtOnce = {
      key: "node.kubernetes.io/unreachable",
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 0,
    };
    await contest.submit({
      job: { backoffLimit: 1 },
      pod: {
        tolerations: [leaveAtOnce],
        containers: [{ name: "main", image: "busybox:1", command: untilTold }],
      } as never,
    });
    await contest.untilRunning();
    await node.kill();
    await outputOf(east.kubectl("uncordon", "node-2"));
    await until("the pods are told to leave", async () => {
      const lists = await Promise.all(contestants.map((contestant) => contest.pods(contestant)));
      return lists.every((list) => list.some(({ metadata }) => metadata.deletionTimestamp !== undefined));
    });
    await node.start();
    await letEnd(contest);
    const [ours, builtIn] = await Promise.all(contestants.map((contestant) => contest.outcome(contestant)));
    expect(ours).toMatchObject({ succeeded: 1, failed: 1 });
    expect(ours).toEqual(builtIn);
  });
});
