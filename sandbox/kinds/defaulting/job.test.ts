import { describe, expect, test } from "vitest";
import { decodeJob, decodePod } from "../decode.ts";
import { defaultJob } from "./job.ts";
import { defaultPod } from "./pod.ts";

const defaulted = (spec: object, metadata: object = {}) => {
  const decoded = decodeJob({ metadata: { name: "a", ...metadata }, spec: { template: { spec: {} }, ...spec } });
  return defaultJob(decoded);
};

describe("Job defaults (AP-1)", () => {
  const cases: [string, object, object][] = [
    ["single pod", {}, { completions: 1, parallelism: 1 }],
    ["completions alone", { completions: 3 }, { completions: 3, parallelism: 1 }],
    ["back-off limit", {}, { backoffLimit: 6 }],
    ["back-off limit per index", { backoffLimitPerIndex: 1 }, { backoffLimit: 2147483647 }],
    ["an explicit limit wins", { backoffLimitPerIndex: 1, backoffLimit: 0 }, { backoffLimit: 0 }],
    ["modes", {}, { completionMode: "NonIndexed", suspend: false, manualSelector: false }],
    ["replacement", {}, { podReplacementPolicy: "TerminatingOrFailed" }],
    ["replacement with failure policy", { podFailurePolicy: { rules: [] } }, { podReplacementPolicy: "Failed" }],
    [
      "condition patterns",
      { podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] } },
      { podFailurePolicy: { rules: [{ onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }] } },
    ],
  ];
  test.each(cases)("%s", (_name, spec, want) => {
    expect(defaulted(spec).spec).toMatchObject(want);
  });

  test("a work queue keeps completions absent, managedBy is never defaulted", () => {
    const { spec } = defaulted({ parallelism: 2 });
    expect(spec).not.toHaveProperty("completions");
    expect(spec).not.toHaveProperty("managedBy");
  });

  test("a Job without labels takes those of its template", () => {
    const template = { metadata: { labels: { app: "x" } }, spec: {} };
    expect(defaulted({ template }).metadata.labels).toEqual({ app: "x" });
    expect(defaulted({ template }, { labels: { own: "1" } }).metadata.labels).toEqual({ own: "1" });
    expect(defaulted({}).metadata).not.toHaveProperty("labels");
  });
});

describe("pod template defaults", () => {
  const podSpec = (spec: object) => defaulted({ template: { spec } }).spec.template.spec;

  test("of the pod", () => {
    expect(podSpec({})).toEqual({
      containers: [],
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
    expect(podSpec({ serviceAccount: "robot" })).toMatchObject({
      serviceAccountName: "robot",
      serviceAccount: "robot",
    });
  });

  test("of containers", () => {
    const container = {
      name: "c",
      image: "app:1",
      ports: [{ containerPort: 80 }],
      env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      livenessProbe: { httpGet: { port: 80 } },
      lifecycle: { preStop: { httpGet: { port: 80 } } },
      resources: { requests: { cpu: "100u" } },
    };
    const handler = { httpGet: { port: 80, path: "/", scheme: "HTTP" } };
    expect(podSpec({ containers: [container], initContainers: [{ name: "i", image: "init" }] })).toMatchObject({
      containers: [
        {
          imagePullPolicy: "IfNotPresent",
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          ports: [{ containerPort: 80, protocol: "TCP" }],
          env: [{ valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }],
          livenessProbe: { ...handler, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
          lifecycle: { preStop: handler },
          resources: { requests: { cpu: "1m" } },
        },
      ],
      initContainers: [{ imagePullPolicy: "Always" }],
    });
  });

  test("of volumes", () => {
    const volumes = [
      { name: "plain" },
      { name: "host", hostPath: { path: "/x" } },
      { name: "config", configMap: { name: "m", defaultMode: 0 } },
      { name: "secret", secret: { secretName: "s" } },
      { name: "down", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.name" } }] } },
      { name: "mixed", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
    ];
    expect(podSpec({ volumes }).volumes).toEqual([
      { name: "plain", emptyDir: {} },
      { name: "host", hostPath: { path: "/x", type: "" } },
      { name: "config", configMap: { name: "m", defaultMode: 0 } },
      { name: "secret", secret: { secretName: "s", defaultMode: 420 } },
      {
        name: "down",
        downwardAPI: {
          defaultMode: 420,
          items: [{ path: "p", fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } }],
        },
      },
      {
        name: "mixed",
        projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }] },
      },
    ]);
  });
});

test("pods also get requests from limits, host ports and service links", () => {
  const decoded = decodePod({
    metadata: { name: "p" },
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: "c",
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } },
        },
      ],
    },
  });
  expect(defaultPod(decoded).spec).toMatchObject({
    enableServiceLinks: true,
    containers: [{ ports: [{ hostPort: 80 }], resources: { requests: { cpu: "1", memory: "1Gi" } } }],
  });
});

describe("pod-wide resources of a pod", () => {
  const requests = (spec: object): unknown => {
    const decoded = decodePod({ metadata: { name: "p" }, spec });
    return (defaultPod(decoded).spec.resources as { requests?: unknown } | undefined)?.requests;
  };
  const asking = (cpu: string) => ({ name: "c", resources: { requests: { cpu } } });

  test.each([
    [
      "as much as the limits",
      { containers: [], resources: { limits: { cpu: "2", memory: "1Gi" } } },
      { cpu: "2", memory: "1Gi" },
    ],
    [
      "what the containers request",
      { containers: [asking("500m"), asking("1")], resources: { limits: { cpu: "2" } } },
      { cpu: "1500m" },
    ],
    [
      "an init container beside the sidecars before it",
      {
        initContainers: [{ ...asking("1"), restartPolicy: "Always" }, asking("3")],
        containers: [asking("1")],
        resources: { limits: { cpu: "9" } },
      },
      { cpu: "4" },
    ],
    [
      "what is given",
      { containers: [asking("1")], resources: { limits: { cpu: "2" }, requests: { cpu: "2" } } },
      { cpu: "2" },
    ],
    ["nothing that a pod cannot share", { containers: [], resources: { limits: { "x.io/gpu": "1" } } }, {}],
    ["nothing without limits", { containers: [asking("1")], resources: { requests: {} } }, undefined],
  ])("requests %s", (_name, spec, want) => {
    expect(requests(spec)).toEqual(want);
  });
});

test("a negative grace period of a pod is the shortest one", () => {
  const decoded = decodePod({ metadata: { name: "p" }, spec: { terminationGracePeriodSeconds: -5 } });
  expect(defaultPod(decoded).spec.terminationGracePeriodSeconds).toBe(1);
});
