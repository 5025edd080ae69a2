import type { Scenario } from "../exchange.ts";
import {
  applyPatch,
  configMap,
  configMaps,
  cronJobs,
  events,
  job,
  jobs,
  jsonPatch,
  leases,
  mergePatch,
  pod,
  pods,
  secrets,
  strategicPatch,
} from "../objects.ts";

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

export const patches: Scenario = {
  name: "patches",
  exchanges: [
    { name: "a config map", method: "POST", path: configMaps, body: configMap("one", { a: "1", b: "2" }) },
    {
      name: "merge: add, change, remove",
      method: "PATCH",
      path: `${configMaps}/one`,
      body: { metadata: { labels: { x: "y" } }, data: { a: "9", b: null, c: "3" } },
      headers: mergePatch,
    },
    {
      name: "json: every operation",
      method: "PATCH",
      path: `${configMaps}/one`,
      headers: jsonPatch,
      body: [
        { op: "test", path: "/data/a", value: "9" },
        { op: "add", path: "/data/d", value: "4" },
        { op: "replace", path: "/data/a", value: "1" },
        { op: "copy", from: "/data/a", path: "/data/e" },
        { op: "move", from: "/data/c", path: "/data/f" },
        { op: "remove", path: "/metadata/labels/x" },
        { op: "add", path: "/metadata/annotations", value: { "ex.org/a": "1" } },
      ],
    },
    {
      name: "json: escaped keys",
      method: "PATCH",
      path: `${configMaps}/one`,
      headers: jsonPatch,
      body: [{ op: "replace", path: "/metadata/annotations/ex.org~1a", value: "2" }],
    },
    {
      name: "a pod",
      method: "POST",
      path: pods,
      body: pod(
        "one",
        {
          containers: [
            { name: "a", image: "a:1" },
            { name: "b", image: "b:1" },
          ],
          tolerations: [{ key: "k", operator: "Exists" }],
        },
        { finalizers: ["ex.org/one", "ex.org/two"] },
      ),
    },
    {
      name: "strategic: one container of two",
      method: "PATCH",
      path: `${pods}/one`,
      headers: strategicPatch,
      body: { spec: { containers: [{ name: "b", image: "b:2" }] } },
    },
    {
      name: "strategic: one finalizer of two",
      method: "PATCH",
      path: `${pods}/one`,
      headers: strategicPatch,
      body: { metadata: { "$deleteFromPrimitiveList/finalizers": ["ex.org/one"] } },
    },
    {
      name: "strategic: finalizers add up",
      method: "PATCH",
      path: `${pods}/one`,
      headers: strategicPatch,
      body: { metadata: { finalizers: ["ex.org/three"] } },
    },
    {
      name: "merge: finalizers are replaced",
      method: "PATCH",
      path: `${pods}/one`,
      headers: mergePatch,
      body: { metadata: { finalizers: null } },
    },
    {
      name: "strategic: status conditions by type",
      method: "PATCH",
      path: `${pods}/one/status`,
      headers: strategicPatch,
      body: {
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
        },
      },
    },
    {
      name: "strategic: another condition",
      method: "PATCH",
      path: `${pods}/one/status`,
      headers: strategicPatch,
      body: {
        status: {
          conditions: [
            { type: "DisruptionTarget", status: "True", reason: "Test", lastTransitionTime: "2026-01-01T00:00:00Z" },
          ],
        },
      },
    },
    {
      name: "strategic: null removes",
      method: "PATCH",
      path: `${configMaps}/one`,
      headers: strategicPatch,
      body: { metadata: { annotations: null }, data: { d: null } },
    },
    {
      name: "apply creates",
      method: "PATCH",
      path: `${configMaps}/two?fieldManager=me`,
      headers: applyPatch,
      body: configMap("two", { a: "1", b: "2" }),
    },
    {
      name: "apply changes",
      method: "PATCH",
      path: `${configMaps}/two?fieldManager=me`,
      headers: applyPatch,
      body: configMap("two", { a: "1", b: "3" }),
    },
    { name: "the end of the pod", method: "DELETE", path: `${pods}/one?gracePeriodSeconds=0` },
  ],
};

export const statuses: Scenario = {
  name: "status and generation",
  exchanges: [
    { name: "a Job", method: "POST", path: jobs, body: { ...job("one", { parallelism: 1 }), status: { active: 7 } } },
    {
      name: "a status through the front door is ignored",
      method: "PATCH",
      path: `${jobs}/one`,
      headers: mergePatch,
      body: { status: { active: 7 } },
    },
    {
      name: "a spec change counts a generation",
      method: "PATCH",
      path: `${jobs}/one`,
      headers: mergePatch,
      body: { spec: { parallelism: 2 } },
    },
    {
      name: "a label does not",
      method: "PATCH",
      path: `${jobs}/one`,
      headers: mergePatch,
      body: { metadata: { labels: { a: "b" } } },
    },
    {
      name: "a spec through the status door is ignored",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: {
        spec: { parallelism: 9 },
        metadata: { labels: { c: "d" } },
        status: { startTime: "2026-01-01T00:00:00Z", active: 2, ready: 1 },
      },
    },
    { name: "the status as an object", path: `${jobs}/one/status` },
    {
      name: "a fallen counter",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { failed: 3 } },
    },
    {
      name: "falls",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { failed: 2 } },
    },
    {
      name: "complete with a pod still active",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: {
        status: {
          completionTime: "2026-01-01T00:01:00Z",
          conditions: [
            { type: "SuccessCriteriaMet", status: "True" },
            { type: "Complete", status: "True" },
          ],
        },
      },
    },
    {
      name: "complete",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: {
        status: {
          active: 0,
          ready: 0,
          succeeded: 1,
          completionTime: "2026-01-01T00:01:00Z",
          conditions: [
            { type: "SuccessCriteriaMet", status: "True", lastTransitionTime: "2026-01-01T00:01:00Z" },
            { type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:01:00Z" },
          ],
        },
      },
    },
    {
      name: "complete is for ever",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { conditions: [] } },
    },
  ],
};

export const jobRules: Scenario = {
  name: "job rules",
  exchanges: [
    {
      name: "restart policy Always",
      method: "POST",
      path: jobs,
      body: { metadata: { name: "x" }, spec: { template: { spec: { containers: [{ name: "a", image: "b" }] } } } },
    },
    { name: "no template", method: "POST", path: jobs, body: { metadata: { name: "x" }, spec: {} } },
    {
      name: "negative numbers",
      method: "POST",
      path: jobs,
      body: job("x", {
        parallelism: -1,
        completions: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
      }),
    },
    { name: "Indexed without completions", method: "POST", path: jobs, body: job("x", { completionMode: "Indexed" }) },
    {
      name: "a name too long for Indexed pods",
      method: "POST",
      path: jobs,
      body: job("x".repeat(63), { completionMode: "Indexed", completions: 10 }),
    },
    {
      name: "per-index limit without Indexed",
      method: "POST",
      path: jobs,
      body: job("x", { backoffLimitPerIndex: 1 }),
    },
    {
      name: "unknown modes and policies",
      method: "POST",
      path: jobs,
      body: job("x", { completionMode: "Odd", podReplacementPolicy: "Sometimes" }),
    },
    {
      name: "a selector of one's own",
      method: "POST",
      path: jobs,
      body: job("x", { selector: { matchLabels: { a: "b" } } }),
    },
    {
      name: "a failure rule with OnFailure",
      method: "POST",
      path: jobs,
      body: job("x", {
        template: { spec: { restartPolicy: "OnFailure", containers: [{ name: "a", image: "b" }] } },
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [0, 1, 1] } }] },
      }),
    },
    { name: "managedBy without a domain", method: "POST", path: jobs, body: job("x", { managedBy: "me" }) },
    { name: "a good one", method: "POST", path: jobs, body: job("good") },
    {
      name: "its template is fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { template: { metadata: { labels: { a: "b" } } } } },
    },
    {
      name: "its completions are fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { completions: 5 } },
    },
    {
      name: "its manager is fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { managedBy: "ex.org/me" } },
    },
  ],
};
