/** On a real API server: who may read queues and clusters, and that objects of an earlier definition are read as before. */
import { fileURLToPath } from "node:url";
import { Queues } from "@jobferry/manager/placement/queues.ts";
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { install } from "../e2e/dispatch/installation.ts";
import { until } from "../fleet/until.ts";
import { realCluster } from "../harness/real-cluster.ts";
import type { RealCluster } from "../harness/real-cluster-options.ts";
import { outputOf } from "../harness/run-command.ts";

let cluster: RealCluster;
const kubectl = (...args: string[]): Promise<string> => outputOf(cluster.kubectl(...args));
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

beforeAll(async () => {
  cluster = await realCluster({ controllers: ["clusterrole-aggregation-controller"] });
  await install(cluster, "hub", "jobferry-manager");
  for (const [role, user] of [
    ["view", "viewer"],
    ["edit", "editor"],
  ])
    await kubectl("create", "clusterrolebinding", `test-${role}`, `--clusterrole=${role}`, `--user=${user}`);
});
afterAll(() => cluster?.stop());

const can = async (user: string, verb: string, resource: string): Promise<boolean> =>
  (await kubectl("auth", "can-i", verb, resource, `--as=${user}`).catch(() => "no")).trim() === "yes";

it.each(["viewer", "editor"])("the %s reads queues and clusters, and changes none", async (user) => {
  await until(`${user} may read`, () => can(user, "list", "jobqueues.jobferry.dev"), { limitMs: 30_000 });
  for (const verb of ["get", "list", "watch"])
    for (const plural of ["jobqueues", "workerclusters"])
      expect(await can(user, verb, `${plural}.jobferry.dev`)).toBe(true);
  for (const verb of ["create", "patch", "delete"]) expect(await can(user, verb, "jobqueues.jobferry.dev")).toBe(false);
  expect(await can("nobody", "list", "jobqueues.jobferry.dev")).toBe(false);
});

it("the manager may watch PriorityClasses", async () => {
  const manager = "system:serviceaccount:jobferry-system:jobferry-manager";
  expect(await can(manager, "watch", "priorityclasses.scheduling.k8s.io")).toBe(true);
});

it("a queue that was written under the earlier definition is the same under this one", async () => {
  await kubectl("replace", "-f", path("earlier/jobqueues.yaml"));
  const spec = {
    weight: 3,
    cohort: "company",
    quota: { jobs: 5, resources: { cpu: "4" } },
    borrowLimit: { resources: { cpu: 2 } },
    clusterSelector: { matchLabels: { site: "own" } },
    placement: "Ordered" as const,
    preferredClusters: [{ matchLabels: { site: "own" } }],
    maxPriority: 10,
  };
  await cluster.api.create(jobQueues, undefined, {
    ...{ apiVersion: "jobferry.dev/v1alpha1", kind: "JobQueue", metadata: { name: "old" }, spec },
  });
  const before = await cluster.api.get(jobQueues, { name: "old" });
  await kubectl("replace", "-f", path("../../deploy/crds/jobqueues.yaml"));
  const after = await cluster.api.get(jobQueues, { name: "old" });
  // Fields that have come since have their defaults.
  expect(after.spec).toMatchObject({ ...before.spec });
  const queues = new Queues({
    queueNamed: (): JobQueue => after,
    labelsOfNamespace: () => undefined,
    ledger: { version: 0, loadOf: () => ({ jobs: 0, used: new Map() }) },
  });
  expect(queues.makesClaims("old")).toBe(false);
  expect(queues.preemption("old")).toEqual({ reclaim: "Never", withinQueue: "Never" });
  expect(queues.view("old")).toMatchObject({ paused: false, spent: undefined, maxPriority: 10, placement: "Ordered" });
});
