import type { Scenario } from "../exchange.ts";
import { configMap, configMaps, cronJobs, job, jobs, mergePatch, pod, pods } from "../objects.ts";

const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const metadataOnly = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
const metadataList = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };

/** Ages depend on the hour: objects here are asked for without them, or are too young to show anything but seconds. */
export const output: Scenario = {
  name: "output",
  exchanges: [
    { name: "a Job", method: "POST", path: jobs, body: job("one", { completions: 3 }) },
    {
      name: "a running Job",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { startTime: "2026-01-01T00:00:00Z", active: 1, succeeded: 1 } },
    },
    {
      name: "a pod",
      method: "POST",
      path: pods,
      body: pod("one", {
        containers: [
          { name: "a", image: "x" },
          { name: "b", image: "y" },
        ],
      }),
    },
    { name: "a config map", method: "POST", path: configMaps, body: configMap("one") },
    { name: "columns of no Jobs", path: `${jobs}?labelSelector=none%3Dhere`, headers: table },
    { name: "columns of no pods", path: `${pods}?labelSelector=none%3Dhere`, headers: table },
    { name: "columns of no CronJobs", path: cronJobs, headers: table },
    { name: "columns of no config maps", path: `${configMaps}?labelSelector=none%3Dhere`, headers: table },
    { name: "columns of no nodes", path: "/api/v1/nodes?labelSelector=none%3Dhere", headers: table },
    { name: "columns of no events", path: "/api/v1/namespaces/{ns}/events", headers: table },
    { name: "columns of no leases", path: "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", headers: table },
    { name: "columns of no secrets", path: "/api/v1/namespaces/{ns}/secrets", headers: table },
    { name: "columns of no namespaces", path: "/api/v1/namespaces?labelSelector=none%3Dhere", headers: table },
    { name: "metadata of one", path: `${configMaps}/one`, headers: metadataOnly },
    { name: "metadata of many", path: `${configMaps}`, headers: metadataList },
    {
      name: "a table, or else JSON",
      path: `${jobs}?labelSelector=none%3Dhere`,
      headers: { accept: `${table.accept},application/json` },
    },
  ],
};
