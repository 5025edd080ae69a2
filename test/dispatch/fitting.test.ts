/** Which Jobs go where in a simulated fleet whose clusters have different nodes. The pods are bound by the sandbox's scheduler. */
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { CLUSTER, GANG, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const gpuNode = { cpu: "8", memory: "32Gi", extended: { "nvidia.com/gpu": "2" } };
const taints = [{ key: "gpu", value: "only", effect: "NoSchedule" as const }];
/** Plain nodes in the east, tainted GPU nodes in the west, another zone in the south, and no node at all in the north. */
const NODES: FleetOptions["nodes"] = {
  east: [
    { name: "e1", cpu: "4", memory: "16Gi" },
    { name: "e2", cpu: "4", memory: "16Gi" },
  ],
  west: [{ name: "w1", ...gpuNode, taints }],
  south: [{ name: "s1", cpu: "8", memory: "16Gi", labels: { "topology.kubernetes.io/zone": "s" } }],
  north: [],
};
const start = async (behaviour?: FleetOptions["behaviour"]): Promise<void> => {
  const workers = ["east", "west", "south", "north"];
  fleet = await new Fleet({ workers, nodes: NODES, ...(behaviour === undefined ? {} : { behaviour }) }).start();
};

const template = (limits: Record<string, string>, more: Partial<PodSpec> & Record<string, unknown> = {}) => ({
  spec: {
    restartPolicy: "Never" as const,
    containers: [{ name: "main", image: "none", resources: { limits } }],
    ...more,
  },
});
const clusterOf = async (name: string): Promise<string | undefined> =>
  (await fleet.job(name))?.metadata.annotations?.[CLUSTER];
const messageOf = async (name: string): Promise<string> =>
  (await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? "";
const placed = async (name: string): Promise<string | undefined> => {
  await fleet.until(async () => (await clusterOf(name)) !== undefined, 30_000);
  return clusterOf(name);
};
const waits = (name: string, why: RegExp): Promise<void> =>
  fleet.until(async () => why.test(await messageOf(name)), 30_000);
const zoneAffinity = (zone: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: [zone] }] },
      ],
    },
  },
});
const tolerations = [{ key: "gpu", operator: "Exists" as const }];

it("GPU Jobs go to the cluster with GPUs alone, one after the other, and say why they wait", async () => {
  await start(() => ({ runMs: 60_000 }));
  const gpus = template({ "nvidia.com/gpu": "2" }, { tolerations });
  await fleet.submit("first", { template: gpus });
  await fleet.submit("second", { template: gpus });
  await fleet.submit("intolerant", { template: template({ "nvidia.com/gpu": "2" }) });
  expect(await placed("first")).toBe("west");
  await waits("second", /west: no room for one pod now \(nvidia.com\/gpu: asks 2, the most free on one node is 0\)/);
  await waits(
    "second",
    /^waiting: east, south: .*\(nvidia.com\/gpu: asks 2, the largest has 0\); north: it has no nodes/,
  );
  await waits("intolerant", /^cannot run anywhere until something is changed: .*west: .*taint gpu=only:NoSchedule/);
  await fleet.untilFinished("first");
  expect(await placed("second")).toBe("west");
  expect((await fleet.untilFinished("second")).status?.succeeded).toBe(1);
});

it("node selectors, affinity and taints decide, and a cluster without nodes gets nothing", async () => {
  await start();
  const zone = { "topology.kubernetes.io/zone": "s" };
  await fleet.submit("selector", { template: template({ cpu: "1" }, { nodeSelector: zone }) });
  await fleet.submit("affinity", { template: template({ cpu: "1" }, { affinity: zoneAffinity("s") }) });
  await fleet.submit("elsewhere", { template: template({ cpu: "1" }, { affinity: zoneAffinity("x") }) });
  for (const name of ["selector", "affinity"]) expect(await placed(name)).toBe("south");
  await waits("elsewhere", /south, west: its one node does not match the node affinity/);
  for (let i = 0; i < 20; i++) await fleet.submit(`small-${i}`, { template: template({ cpu: "100m" }) });
  const used = new Set<string | undefined>();
  for (let i = 0; i < 20; i++) used.add(await placed(`small-${i}`));
  for (const name of ["west", "north"]) expect([...used]).not.toContain(name);
});

it("room that is scattered over nodes is not one pod's room, nor is room that a burst has just taken", async () => {
  await start(() => ({ runMs: 60_000 }));
  const six = template({ cpu: "6" });
  await fleet.submit("one", { template: six });
  await fleet.submit("two", { template: six });
  expect(await placed("one")).toBe("south");
  await waits("two", /east: .*cpu: asks 6, the largest has 4/);
  await waits("two", /south: no room for one pod now \(cpu: asks 6, the most free on one node is 2\)/);
});

it("a gang waits until all its pods have room on one cluster", async () => {
  await start((pod) => ({ runMs: pod.metadata.name?.startsWith("holder") ? 30_000 : 2_000 }));
  await fleet.submit("holder", {
    template: template({ cpu: "4" }, { nodeSelector: { "kubernetes.io/hostname": "e1" } }),
  });
  expect(await placed("holder")).toBe("east");
  const metadata = { annotations: { [GANG]: "true" } };
  const gang = {
    parallelism: 2,
    completions: 2,
    template: template({ cpu: "4" }, { nodeSelector: { "kubernetes.io/os": process.platform } }),
  };
  await fleet.submit("large", { ...gang, parallelism: 3, completions: 3 }, metadata);
  await waits(
    "large",
    /east: room for 1 of the 3 pods that must run at once, and for at most 2 when all its nodes are empty/,
  );
  await fleet.edit("large", { spec: { suspend: true } });
  await fleet.submit("gang", gang, metadata);
  expect(await placed("gang")).toBe("south");
  expect((await fleet.untilFinished("gang")).status?.succeeded).toBe(2);
});
