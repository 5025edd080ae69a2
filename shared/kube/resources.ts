import type { Job, Pod } from "../job/types.ts";
import type { KubeObject, Resource } from "./api.ts";

/** The resource types our code talks to, by plural name. */
export const jobs: Resource<Job> = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };
export const pods: Resource<Pod> = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

export interface KubeEvent extends KubeObject {
  involvedObject: {
    apiVersion?: string;
    kind?: string;
    namespace?: string;
    name?: string;
    uid?: string;
    resourceVersion?: string;
  };
  reason?: string;
  message?: string;
  type?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string } | null;
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
}
export const events: Resource<KubeEvent> = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}
export const leases: Resource<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

export const namespaces: Resource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  /** Values are base64. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}
export const configMaps: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

export interface Secret extends KubeObject {
  type?: string;
  /** Values are base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}
export const secrets: Resource<Secret> = {
  group: "",
  version: "v1",
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};

export const serviceAccounts: Resource = {
  group: "",
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
};

export interface PriorityClass extends KubeObject {
  value: number;
}

export const priorityClasses: Resource<PriorityClass> = {
  group: "scheduling.k8s.io",
  version: "v1",
  plural: "priorityclasses",
  kind: "PriorityClass",
  namespaced: false,
};
