import type { Scenario } from "../exchange.ts";
import { configMap, configMaps, cronJobs, events, job, jobs, leases, pod, pods, secrets } from "../objects.ts";

export const defaults: Scenario = {
  name: "defaults",
  exchanges: [
    { name: "a Job", method: "POST", path: jobs, body: job("plain") },
    { name: "the Job again", path: `${jobs}/plain` },
    {
      name: "an Indexed Job",
      method: "POST",
      path: jobs,
      body: job("indexed", { completionMode: "Indexed", completions: 3, parallelism: 2, backoffLimitPerIndex: 1 }),
    },
    { name: "a work-queue Job", method: "POST", path: jobs, body: job("queue", { parallelism: 2 }) },
    {
      name: "a Job with all the policies",
      method: "POST",
      path: jobs,
      body: job("policies", {
        completionMode: "Indexed",
        completions: 3,
        podReplacementPolicy: "Failed",
        podFailurePolicy: {
          rules: [
            { action: "FailJob", onExitCodes: { operator: "In", values: [42] } },
            { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
          ],
        },
        successPolicy: { rules: [{ succeededIndexes: "0-1" }] },
        ttlSecondsAfterFinished: 60,
        activeDeadlineSeconds: 600,
        suspend: true,
        managedBy: "jobferry.dev/manager",
      }),
    },
    { name: "a pod", method: "POST", path: pods, body: pod("plain") },
    {
      name: "a pod with everything we set",
      method: "POST",
      path: pods,
      body: pod("full", {
        terminationGracePeriodSeconds: 5,
        initContainers: [{ name: "first", image: "busybox:1.36" }],
        containers: [
          {
            name: "main",
            image: "busybox:latest",
            env: [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: "1", memory: "64Mi" } },
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
        volumes: [{ name: "data", emptyDir: {} }],
        nodeSelector: { zone: "a" },
        tolerations: [{ key: "x", operator: "Exists" }],
        activeDeadlineSeconds: 60,
      }),
    },
    {
      name: "a CronJob",
      method: "POST",
      path: cronJobs,
      body: {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { name: "plain" },
        spec: { schedule: "*/5 * * * *", jobTemplate: { spec: job("x").spec } },
      },
    },
    {
      name: "a config map",
      method: "POST",
      path: configMaps,
      body: { ...configMap("plain"), binaryData: { raw: "AAEC" }, immutable: true },
    },
    {
      name: "a secret with text",
      method: "POST",
      path: secrets,
      body: { metadata: { name: "plain" }, stringData: { user: "me" } },
    },
    {
      name: "a lease",
      method: "POST",
      path: leases,
      body: {
        metadata: { name: "plain" },
        spec: {
          holderIdentity: "me",
          leaseDurationSeconds: 15,
          acquireTime: "2026-01-01T00:00:00.000000Z",
          renewTime: "2026-01-01T00:00:00.123456Z",
          leaseTransitions: 1,
        },
      },
    },
    {
      name: "an event",
      method: "POST",
      path: events,
      body: {
        metadata: { name: "plain.1" },
        involvedObject: { kind: "Job", apiVersion: "batch/v1", namespace: "answers-defaults", name: "plain" },
        reason: "Started",
        message: "it has",
        type: "Normal",
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        count: 1,
        source: { component: "test" },
      },
    },
    {
      name: "a node",
      method: "POST",
      path: "/api/v1/nodes",
      body: { metadata: { name: "answers-node" }, status: { capacity: { cpu: "4" } } },
    },
    { name: "the node's end", method: "DELETE", path: "/api/v1/nodes/answers-node" },
    {
      name: "a namespace",
      method: "POST",
      path: "/api/v1/namespaces",
      body: { metadata: { name: "answers-extra", labels: { team: "a" } } },
    },
    { name: "an empty list", path: `${pods}?labelSelector=none%3Dhere` },
    { name: "a list", path: configMaps },
  ],
};
