import { describe, expect, test } from "vitest";
import { containerComplaints, podComplaints } from "./testing/pod-cases.ts";

const env = (variable: object) => ({ env: [{ name: "A", ...variable }] });
const from = (valueFrom: object) => env({ valueFrom });
const port = (...ports: object[]) => ({ ports });
const VALUE = "env[0].valueFrom";

describe("containers (VC-44)", () => {
  const cases: [string, object, string[]][] = [
    ["valid", { env: [{ name: "with space.dots", value: "1" }] }, []],
    ["no name", { name: "" }, ["name Required"]],
    ["bad name", { name: "A_b" }, ["name Invalid"]],
    ["no image", { image: "" }, ["image Required"]],
    ["padded image", { image: " x" }, ["image Invalid"]],
    ["pull policy", { imagePullPolicy: "Odd" }, ["imagePullPolicy NotSupported"]],
    ["message policy", { terminationMessagePolicy: "Odd" }, ["terminationMessagePolicy NotSupported"]],
    [
      "port number",
      port({ containerPort: 0 }, { containerPort: 70_000 }),
      ["ports[0].containerPort Required", "ports[1].containerPort Invalid"],
    ],
    [
      "port protocol and host port",
      port({ containerPort: 1, hostPort: -1, protocol: "X" }),
      ["ports[0].hostPort Invalid", "ports[0].protocol NotSupported"],
    ],
    [
      "port names",
      port({ containerPort: 1, name: "a" }, { containerPort: 2, name: "a" }, { containerPort: 3, name: "0" }),
      ["ports[1].name Duplicate", "ports[2].name Invalid"],
    ],
    [
      "host port taken",
      port({ containerPort: 1, hostPort: 5 }, { containerPort: 2, hostPort: 5 }),
      ["ports[1].hostPort Duplicate"],
    ],
    ["env name", env({ name: "" }), ["env[0].name Required"]],
    ["env name with =", env({ name: "a=b" }), ["env[0].name Invalid"]],
    ["env without source", from({}), [`${VALUE} Invalid`]],
    [
      "env with value and source",
      env({ value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }),
      [`${VALUE} Invalid`],
    ],
    [
      "field that cannot be handed down",
      from({ fieldRef: { fieldPath: "spec.containers" } }),
      [`${VALUE}.fieldRef.fieldPath Invalid`],
    ],
    [
      "field that env does not take",
      from({ fieldRef: { fieldPath: "metadata.labels" } }),
      [`${VALUE}.fieldRef.fieldPath NotSupported`],
    ],
    ["one label is fine", from({ fieldRef: { fieldPath: "metadata.labels['x.io/a']" } }), []],
    ["malformed label key", from({ fieldRef: { fieldPath: "metadata.labels['a b']" } }), [`${VALUE}.fieldRef Invalid`]],
    [
      "resource",
      from({ resourceFieldRef: { resource: "limits.gpu" } }),
      [`${VALUE}.resourceFieldRef.resource NotSupported`],
    ],
    [
      "resource divisor",
      from({ resourceFieldRef: { resource: "limits.cpu", divisor: "2" } }),
      [`${VALUE}.resourceFieldRef.divisor Invalid`],
    ],
    ["config map key", from({ configMapKeyRef: { name: "m", key: "a b" } }), [`${VALUE}.configMapKeyRef.key Invalid`]],
    ["secret key", from({ secretKeyRef: { name: "m", key: "" } }), [`${VALUE}.secretKeyRef.key Required`]],
    [
      "file key",
      from({ fileKeyRef: { volumeName: "v", path: "a", key: "K" } }),
      [`${VALUE}.fileKeyRef.volumeName NotFound`],
    ],
    ["envFrom", { envFrom: [{}, { secretRef: {} }] }, ["envFrom Invalid", "envFrom[1].secretRef.name Required"]],
    ["restart policy", { restartPolicy: "Odd" }, ["restartPolicy NotSupported"]],
    [
      "restart rules",
      { restartPolicyRules: [{ action: "Odd" }] },
      [
        "restartPolicy Required",
        "restartPolicyRules[0].action NotSupported",
        "restartPolicyRules[0].exitCodes Required",
      ],
    ],
    [
      "resize policy",
      { resizePolicy: [{ resourceName: "disk", restartPolicy: "Odd" }] },
      ["resizePolicy NotSupported", "resizePolicy NotSupported"],
    ],
    ["user id", { securityContext: { runAsUser: -1 } }, ["securityContext.runAsUser Invalid"]],
    [
      "seccomp",
      { securityContext: { seccompProfile: { type: "Localhost" } } },
      ["securityContext.seccompProfile.localhostProfile Required"],
    ],
    [
      "AppArmor",
      { securityContext: { appArmorProfile: { type: "Odd" } } },
      ["securityContext.appArmorProfile.type NotSupported"],
    ],
    [
      "escalation",
      { securityContext: { allowPrivilegeEscalation: false, privileged: true } },
      ["securityContext Invalid"],
    ],
  ];
  test.each(cases)("%s", (_name, container, want) => {
    expect(containerComplaints(container)).toEqual(want);
  });
});

describe("probes and hooks", () => {
  const cases: [string, object, string[]][] = [
    ["valid", { livenessProbe: { httpGet: { port: "http" } }, lifecycle: { preStop: { sleep: { seconds: 5 } } } }, []],
    ["no handler", { readinessProbe: {} }, ["readinessProbe Required"]],
    [
      "two handlers",
      { startupProbe: { exec: { command: ["x"] }, tcpSocket: { port: 1 } } },
      ["startupProbe.tcpSocket Forbidden"],
    ],
    ["empty command", { livenessProbe: { exec: {} } }, ["livenessProbe.exec.command Required"]],
    [
      "http",
      { livenessProbe: { httpGet: { port: 0, scheme: "X", httpHeaders: [{ name: "a b", value: "" }] } } },
      [
        "livenessProbe.httpGet.httpHeaders Invalid",
        "livenessProbe.httpGet.port Invalid",
        "livenessProbe.httpGet.scheme NotSupported",
      ],
    ],
    [
      "counters",
      { readinessProbe: { grpc: { port: 1 }, periodSeconds: -1, terminationGracePeriodSeconds: 5 } },
      ["readinessProbe.periodSeconds Invalid", "readinessProbe.terminationGracePeriodSeconds Invalid"],
    ],
    [
      "success threshold",
      { livenessProbe: { grpc: { port: 1 }, successThreshold: 2 } },
      ["livenessProbe.successThreshold Invalid"],
    ],
    [
      "sleep longer than the grace period",
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      ["lifecycle.preStop.sleep Invalid"],
    ],
  ];
  test.each(cases)("%s", (_name, container, want) => {
    expect(containerComplaints(container)).toEqual(want);
  });
});

describe("lists of containers", () => {
  const c = { name: "c", image: "x" };
  const probe = { tcpSocket: { port: 1 } };
  const cases: [string, object, string[]][] = [
    ["none", { containers: [] }, ["spec.containers Required"]],
    ["two of one name", { containers: [c, c] }, ["spec.containers[1].name Duplicate"]],
    [
      "init container of that name",
      { containers: [c], initContainers: [c] },
      ["spec.initContainers[0].name Duplicate"],
    ],
    [
      "probe of an init container",
      { containers: [c], initContainers: [{ name: "i", image: "x", livenessProbe: probe }] },
      ["spec.initContainers[0].livenessProbe Forbidden"],
    ],
    [
      "probe of a sidecar",
      { containers: [c], initContainers: [{ name: "i", image: "x", restartPolicy: "Always", livenessProbe: probe }] },
      [],
    ],
    [
      "ephemeral",
      { containers: [c], ephemeralContainers: [{ name: "e", image: "x" }] },
      ["spec.ephemeralContainers Forbidden"],
    ],
  ];
  test.each(cases)("%s", (_name, spec, want) => {
    expect(podComplaints(spec)).toEqual(want);
  });
});

describe("resources", () => {
  const cases: [string, object, string[]][] = [
    ["valid", { requests: { cpu: "1" }, limits: { cpu: "2", "x.io/gpu": "1" } }, []],
    ["requests above limits", { requests: { cpu: "2" }, limits: { cpu: "1" } }, ["resources.requests Invalid"]],
    ["equal amounts, other notation", { requests: { memory: "1Gi" }, limits: { memory: "1073741824" } }, []],
    ["negative", { requests: { cpu: "-1" } }, ["resources.requests[cpu] Invalid"]],
    [
      "unknown resource",
      { limits: { nonsense: "1" } },
      [
        "resources.limits[nonsense] Invalid",
        "resources.limits[nonsense] Invalid",
        "resources.requests[nonsense] Invalid",
        "resources.requests[nonsense] Invalid",
      ],
    ],
    ["extended resource without limit", { requests: { "x.io/gpu": "1" } }, ["resources.limits Required"]],
    [
      "fraction of an extended resource",
      { limits: { "x.io/gpu": "500m" } },
      ["resources.limits[x.io/gpu] Invalid", "resources.requests[x.io/gpu] Invalid"],
    ],
    ["huge pages alone", { limits: { "hugepages-2Mi": "2Mi" } }, ["resources Forbidden"]],
    ["claim that the pod does not have", { claims: [{ name: "a" }] }, ["resources.claims[0] NotFound"]],
  ];
  test.each(cases)("%s", (_name, resources, want) => {
    expect(containerComplaints({ resources })).toEqual(want);
  });

  test("containers within the pod's own resources", () => {
    const containers = [{ name: "c", image: "x", resources: { requests: { cpu: "2" }, limits: { cpu: "3" } } }];
    expect(podComplaints({ containers, resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } })).toEqual([
      "spec.resources.containers[0][cpu].limits Invalid",
      "spec.resources.requests[cpu] Invalid",
    ]);
  });
});
