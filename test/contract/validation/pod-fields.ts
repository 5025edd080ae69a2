import { dnsNames, type FieldChoices, long } from "./choices.ts";
import { CONTAINER_FIELDS, VOLUME_FIELDS } from "./container-fields.ts";

const SPEC = "spec.template.spec";
const terms = [
  { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } } },
  { topologyKey: "" },
  {
    topologyKey: "bad key",
    namespaces: ["Bad"],
    namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
  },
  { topologyKey: "zone", matchLabelKeys: ["a"] },
  {
    topologyKey: "zone",
    labelSelector: { matchExpressions: [{ key: "a", operator: "Exists" }] },
    matchLabelKeys: ["a", "b b"],
    mismatchLabelKeys: ["a"],
  },
] as const;

const nodeTerms = [
  { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] },
  {
    matchExpressions: [
      { key: "a", operator: "In" },
      { key: "", operator: "Exists", values: ["x"] },
    ],
  },
  {
    matchExpressions: [
      { key: "a", operator: "Gt", values: ["1", "2"] },
      { key: "a", operator: "Near", values: ["bad value"] },
    ],
  },
  { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
  {
    matchFields: [
      { key: "metadata.uid", operator: "Exists", values: ["N N"] },
      { key: "metadata.name", operator: "NotIn", values: ["A B"] },
    ],
  },
  {},
] as const;

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

const SCHEDULING: FieldChoices[] = [
  [
    `${SPEC}.tolerations`,
    [
      [{ key: "a", operator: "Equal", value: "b", effect: "NoSchedule" }],
      [{ operator: "Exists" }],
      [{ value: "b" }],
      [{ key: "bad key", operator: "Exists", value: "x" }],
      [{ key: "a", operator: "Near", effect: "Odd" }],
      [{ key: "a", value: "bad value", tolerationSeconds: 5 }],
      [{ key: "a", operator: "Gt", value: "5" }],
    ],
  ],
  [
    `${SPEC}.affinity.nodeAffinity.${REQUIRED}`,
    [{ nodeSelectorTerms: [] }, ...nodeTerms.map((term) => ({ nodeSelectorTerms: [term] }))],
  ],
  [
    `${SPEC}.affinity.nodeAffinity.${PREFERRED}`,
    nodeTerms.map((preference, weight) => [{ weight: weight * 25, preference }]) as [object],
  ],
  [`${SPEC}.affinity.podAffinity.${REQUIRED}`, terms.map((term) => [term]) as [object]],
  [
    `${SPEC}.affinity.podAntiAffinity.${PREFERRED}`,
    terms.map((podAffinityTerm, weight) => [{ weight: weight * 30, podAffinityTerm }]) as [object],
  ],
  [
    `${SPEC}.topologySpreadConstraints`,
    [
      [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} }],
      [{ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Odd", minDomains: 0, nodeAffinityPolicy: "Odd" }],
      new Array(2).fill({ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 }),
      [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", matchLabelKeys: ["a"] }],
    ],
  ],
  [`${SPEC}.nodeSelector`, [{ a: "b" }, { "bad key": "bad value" }, {}]],
  [`${SPEC}.schedulingGates`, [[{ name: "x.io/g" }], [{ name: "bad gate" }, { name: "a" }, { name: "a" }], [{}]]],
  [`${SPEC}.priorityClassName`, dnsNames],
  [`${SPEC}.preemptionPolicy`, ["Never", "PreemptLowerPriority", "Odd", ""]],
  [`${SPEC}.nodeName`, dnsNames],
];

const POD: FieldChoices[] = [
  [`${SPEC}.activeDeadlineSeconds`, [1, 0, -1, 2_147_483_647, 2_147_483_648, null]],
  [`${SPEC}.terminationGracePeriodSeconds`, [0, 1, -1, null, "5"]],
  [`${SPEC}.dnsPolicy`, ["Default", "None", "Odd", ""]],
  [
    `${SPEC}.dnsConfig`,
    [
      { nameservers: ["1.2.3.4"] },
      { nameservers: ["1.2.3.400", "::1", "01.2.3.4", "::ffff:1.2.3.4", "64:ff9b::1.2.3.4", "1::2::3", ""] },
      { searches: ["a.b.", "_tcp.x", ".", "BAD", ""], options: [{}] },
      { searches: new Array(33).fill("a".repeat(62)) },
    ],
  ],
  [`${SPEC}.hostname`, dnsNames],
  [`${SPEC}.subdomain`, dnsNames],
  [`${SPEC}.hostnameOverride`, ["ok", "BAD", long(64), long(65), ""]],
  [`${SPEC}.setHostnameAsFQDN`, [true, false]],
  [`${SPEC}.serviceAccountName`, dnsNames],
  [`${SPEC}.serviceAccount`, ["old", "OLD"]],
  [`${SPEC}.runtimeClassName`, dnsNames],
  [`${SPEC}.hostAliases`, [[{ ip: "1.2.3.4", hostnames: ["a"] }], [{ ip: "", hostnames: ["BAD"] }]]],
  [`${SPEC}.imagePullSecrets`, [[{ name: "s" }], [{}]]],
  [`${SPEC}.readinessGates`, [[{ conditionType: "x.io/R" }], [{ conditionType: "" }]]],
  [`${SPEC}.os`, [{ name: "linux" }, { name: "" }, { name: "plan9" }]],
  [`${SPEC}.hostNetwork`, [true, true, false]],
  [`${SPEC}.hostPID`, [true]],
  [`${SPEC}.hostUsers`, [false]],
  [`${SPEC}.shareProcessNamespace`, [true]],
  [`${SPEC}.overhead`, [{ cpu: "1" }, { cpu: "-1" }, { nope: "1" }]],
  [
    `${SPEC}.resources`,
    [
      { limits: { cpu: "1" } },
      { requests: { cpu: "2" }, limits: { cpu: "1" } },
      { requests: { cpu: "500m" } },
      { limits: { "x.io/y": "1" } },
    ],
  ],
  [
    `${SPEC}.resourceClaims`,
    [
      [{ name: "a", resourceClaimName: "x" }],
      [{ name: "a" }, { name: "a" }],
      [{ name: "", resourceClaimName: "X", resourceClaimTemplateName: "y" }],
    ],
  ],
  [
    `${SPEC}.securityContext`,
    [
      { fsGroup: -1, runAsUser: -2, runAsGroup: -3, supplementalGroups: [1, -1] },
      { fsGroupChangePolicy: "Odd", supplementalGroupsPolicy: "Odd", seLinuxChangePolicy: "Odd" },
      { fsGroupChangePolicy: "Always", supplementalGroupsPolicy: "Merge", seLinuxChangePolicy: "Recursive" },
      {
        sysctls: [
          { name: "a.b", value: "1" },
          { name: "a.b", value: "1" },
          { name: "", value: "" },
          { name: "A-", value: "" },
        ],
      },
      { seccompProfile: { type: "Odd" } },
    ],
  ],
];

export const POD_FIELDS: readonly FieldChoices[] = [...CONTAINER_FIELDS, ...VOLUME_FIELDS, ...SCHEDULING, ...POD];
