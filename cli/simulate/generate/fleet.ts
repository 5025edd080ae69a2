import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Fleet, FleetCluster, NodeKind } from "../fleet/fleet.ts";
import { GPU, GPU_MODEL } from "../trace/gpu-tasks.ts";
import { NODES, QUEUES } from "./figures.ts";

const MIB = 2 ** 20;
const PODS_PER_NODE = 110;

/** 1,523 nodes, 6,212 GPUs of 7 models: in twelve clusters by model and size as real fleets have them, or all in one. `part`: of each kind no more than that. */
export function generateFleet(clusters: "twelve" | "one", part = 1): Fleet {
  const members = new Map<string, NodeKind[]>();
  for (const [nodes, cpu, mib, gpus, model] of NODES) {
    const count = Math.ceil(nodes * part);
    const names = clusters === "one" ? ["all"] : (CLUSTERS[model] ?? ["cpu-1"]);
    for (const [i, name] of names.entries()) {
      const dealt = Math.floor((count * (i + 1)) / names.length) - Math.floor((count * i) / names.length);
      if (dealt === 0) continue;
      const kinds = members.get(name) ?? [];
      members.set(name, kinds);
      kinds.push({
        count: dealt,
        labels: model === "" ? {} : { [GPU_MODEL]: model },
        taints: [],
        allocatable: new Map([
          ["cpu", cpu],
          ["memory", mib * MIB],
          ["pods", PODS_PER_NODE],
          ...(gpus > 0 ? [[GPU, gpus] as const] : []),
        ]),
      });
    }
  }
  return {
    clusters: [...members].map(
      ([name, nodes]): FleetCluster => ({
        name: parseClusterName(name),
        object: { metadata: { name, uid: name, labels: { name } }, spec: { publicKey: "" } },
        nodes,
        scoring: "LeastAllocated",
      }),
    ),
    queues: QUEUES.map(([, name]) => ({ metadata: { name }, spec: {} })),
    namespaces: new Map(),
  };
}

const CLUSTERS: Readonly<Record<string, readonly string[]>> = {
  G2: ["g2-1", "g2-2", "g2-3", "g2-4"],
  T4: ["t4-1", "t4-2"],
  P100: ["p100"],
  V100M16: ["v100-16"],
  V100M32: ["v100-32"],
  G3: ["g3"],
  A10: ["g3"],
  "": ["cpu-1", "cpu-2"],
};
