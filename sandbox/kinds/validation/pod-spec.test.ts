import { describe, expect, test } from "vitest";
import { podComplaints } from "./testing/pod-cases.ts";

const containers = [{ name: "c", image: "x" }];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const spread = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };

const cases: [string, object, string[]][] = [
  ["valid", { hostname: "h", nodeSelector: { a: "b" }, activeDeadlineSeconds: 1 }, []],
  ["restart policy", { restartPolicy: "Odd" }, ["spec.restartPolicy NotSupported"]],
  ["DNS policy", { dnsPolicy: "Odd" }, ["spec.dnsPolicy NotSupported"]],
  ["DNS None without config", { dnsPolicy: "None" }, ["spec.dnsConfig Required"]],
  [
    "name servers",
    { dnsConfig: { nameservers: ["1.2.3.4", "::1", "1.2.3"] } },
    ["spec.dnsConfig.nameservers[2] Invalid"],
  ],
  ["search paths", { dnsConfig: { searches: [".", "_tcp.x.", "BAD"] } }, ["spec.dnsConfig.searches[2] Invalid"]],
  ["deadline", { activeDeadlineSeconds: 0 }, ["spec.activeDeadlineSeconds Invalid"]],
  ["host name", { hostname: "A", subdomain: "a.b" }, ["spec.hostname Invalid", "spec.subdomain Invalid"]],
  ["host name override", { hostnameOverride: "a".repeat(65) }, ["spec.hostnameOverride TooLong"]],
  [
    "references",
    { nodeName: "A", serviceAccountName: "A", priorityClassName: "A", runtimeClassName: "A" },
    [
      "spec.nodeName Invalid",
      "spec.priorityClassName Invalid",
      "spec.runtimeClassName Invalid",
      "spec.serviceAccountName Invalid",
    ],
  ],
  ["node selector", { nodeSelector: { "a b": "c d" } }, ["spec.nodeSelector Invalid", "spec.nodeSelector Invalid"]],
  [
    "host aliases",
    { hostAliases: [{ ip: "x", hostnames: ["BAD"] }] },
    ["spec.hostAliases[0].hostnames[0] Invalid", "spec.hostAliases[0].ip Invalid"],
  ],
  ["scheduling gates", { schedulingGates: [{ name: "a" }, { name: "a" }] }, ["spec.schedulingGates[1] Duplicate"]],
  ["gate on a bound pod", { schedulingGates: [{ name: "a" }], nodeName: "n" }, ["spec.nodeName Forbidden"]],
  ["preemption policy", { preemptionPolicy: "Odd" }, ["spec.preemptionPolicy NotSupported"]],
  ["operating system", { os: { name: "plan9" } }, ["spec.os NotSupported"]],
  [
    "groups",
    { securityContext: { fsGroup: -1, supplementalGroups: [-1] } },
    ["spec.securityContext.fsGroup Invalid", "spec.securityContext.supplementalGroups[0] Invalid"],
  ],
  [
    "sysctls",
    {
      securityContext: {
        sysctls: [
          { name: "a.b", value: "" },
          { name: "a.b", value: "" },
          { name: "A", value: "" },
        ],
      },
    },
    ["spec.securityContext.sysctls[1].name Duplicate", "spec.securityContext.sysctls[2].name Invalid"],
  ],
  ["host namespaces", { hostUsers: false, hostPID: true }, ["spec.HostPID Forbidden"]],
  [
    "shared processes",
    { hostPID: true, shareProcessNamespace: true },
    ["spec.securityContext.shareProcessNamespace Invalid"],
  ],
  ["claims", { resourceClaims: [{ name: "a" }] }, ["spec.resourceClaims[0] Invalid"]],
  ["toleration without key", { tolerations: [{ value: "x" }] }, ["spec.tolerations[0].operator Invalid"]],
  [
    "toleration effect",
    { tolerations: [{ key: "a", effect: "Odd", tolerationSeconds: 1 }] },
    ["spec.tolerations[0].effect Invalid", "spec.tolerations[0].effect NotSupported"],
  ],
  [
    "node affinity without terms",
    { affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } } },
    [`spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms Required`],
  ],
  [
    "node affinity operator",
    {
      affinity: {
        nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Near" }] }] } },
      },
    },
    [`spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator Invalid`],
  ],
  [
    "preference weight",
    { affinity: { nodeAffinity: { [PREFERRED]: [{ weight: 0, preference: {} }] } } },
    [`spec.affinity.nodeAffinity.${PREFERRED}[0].weight Invalid`],
  ],
  [
    "pod affinity topology",
    { affinity: { podAffinity: { [REQUIRED]: [{ topologyKey: "a b" }] } } },
    [`spec.affinity.podAffinity.${REQUIRED}[0].topologyKey Invalid`],
  ],
  [
    "spread",
    { topologySpreadConstraints: [{ ...spread, maxSkew: 0 }] },
    ["spec.topologySpreadConstraints[0].maxSkew Invalid"],
  ],
  [
    "spread twice",
    { topologySpreadConstraints: [spread, spread] },
    ["spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable} Duplicate"],
  ],
  [
    "label keys without selector",
    { topologySpreadConstraints: [{ ...spread, matchLabelKeys: ["a"] }] },
    ["spec.topologySpreadConstraints[0].matchLabelKeys Forbidden"],
  ],
];

describe("pod spec (VC-44)", () => {
  test.each(cases)("%s", (_name, spec, want) => {
    expect(podComplaints({ containers, ...spec })).toEqual(want);
  });
});

test("annotations with a meaning", () => {
  const annotations = { "controller.kubernetes.io/pod-deletion-cost": "+5", "kubernetes.io/config.mirror": "x" };
  expect(podComplaints({ containers }, { annotations })).toEqual([
    "metadata.annotations[controller.kubernetes.io/pod-deletion-cost] Invalid",
    "metadata.annotations[kubernetes.io/config.mirror] Invalid",
  ]);
});
