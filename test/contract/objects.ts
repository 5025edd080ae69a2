/** Objects as a person would write them, and the addresses they live at. */
export const configMaps = "/api/v1/namespaces/{ns}/configmaps";
export const pods = "/api/v1/namespaces/{ns}/pods";
export const jobs = "/apis/batch/v1/namespaces/{ns}/jobs";
export const cronJobs = "/apis/batch/v1/namespaces/{ns}/cronjobs";
export const leases = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases";
export const events = "/api/v1/namespaces/{ns}/events";
export const secrets = "/api/v1/namespaces/{ns}/secrets";

export const mergePatch = { "content-type": "application/merge-patch+json" };
export const strategicPatch = { "content-type": "application/strategic-merge-patch+json" };
export const jsonPatch = { "content-type": "application/json-patch+json" };
export const applyPatch = { "content-type": "application/apply-patch+yaml" };

const podSpec = { restartPolicy: "Never", containers: [{ name: "main", image: "busybox", command: ["true"] }] };

export const configMap = (name: string, data: Record<string, string> = { colour: "blue" }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { ...podSpec, ...spec },
});

export const job = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, ...metadata },
  spec: { template: { spec: podSpec }, ...spec },
});
