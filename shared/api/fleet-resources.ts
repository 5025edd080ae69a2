import type { LabelSelector } from "../job/types.ts";
import type { KubeObject, Resource } from "../kube/api.ts";

/** Jobferry's own resources on the hub; their schemas are in deploy/crds. */

export interface FleetCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface WorkerCluster extends KubeObject {
  spec: {
    publicKey: string;
    nextPublicKey?: string;
    cordoned?: boolean;
    drain?: boolean;
    maxJobs?: number;
    namespaces?: string[];
    lostAfter?: string;
  };
  status?: {
    conditions?: FleetCondition[];
    capacity?: Record<string, string>;
    free?: Record<string, string>;
    largestFreeNode?: Record<string, string>;
    largestNode?: Record<string, string>;
    runningJobs?: number;
    clusterID?: string;
    agentVersion?: string;
    kubernetesVersion?: string;
    lastContactTime?: string;
    /** Silence counted towards lostAfter, in whole seconds. */
    silentSeconds?: number;
    /** Jobs failed there in a row: nothing is placed until then, and after it one Job at a time. */
    setAside?: { until: string; times: number; reason: string };
  };
}

export const workerClusters: Resource<WorkerCluster> = {
  group: "jobferry.dev",
  version: "v1alpha1",
  plural: "workerclusters",
  kind: "WorkerCluster",
  namespaced: false,
};

export interface JobQueue extends KubeObject {
  spec?: {
    namespaceSelector?: LabelSelector;
    clusterSelector?: LabelSelector;
    weight?: number;
    quota?: { jobs?: number; resources?: Record<string, string | number> };
    cohort?: string;
    borrowLimit?: { jobs?: number; resources?: Record<string, string | number> };
    maxPriority?: number;
    placement?: "Spread" | "Pack" | "Ordered";
    preferredClusters?: LabelSelector[];
    onClusterLost?: "Redispatch" | "Wait" | "StopThenRedispatch";
    unschedulableAfter?: string;
    preemption?: { reclaim?: "Never" | "LowerPriority" | "Any"; withinQueue?: "Never" | "LowerPriority" };
    reserveAfter?: string;
    budget?: { window?: string; resourceHours?: Record<string, string | number> };
    pods?: "Shadow" | "None";
    paused?: boolean;
    allowOrphans?: boolean;
    references?: { configMaps?: "Copy" | "Expect"; secrets?: "Copy" | "Expect"; onChange?: "Use" | "Wait" };
  };
  status?: {
    pending?: number;
    running?: number;
    usage?: Record<string, string>;
    borrowed?: Record<string, string>;
    share?: string;
    /** Of those that are pending, by the kind of reason. */
    waiting?: Record<string, number>;
    /** `hours`: quantities times hours, by hour since 1970. */
    budget?: {
      spent: Record<string, string>;
      countedTo: string;
      hours: Record<string, Record<string, string>>;
    };
    conditions?: FleetCondition[];
  };
}

export const jobQueues: Resource<JobQueue> = {
  group: "jobferry.dev",
  version: "v1alpha1",
  plural: "jobqueues",
  kind: "JobQueue",
  namespaced: false,
};
