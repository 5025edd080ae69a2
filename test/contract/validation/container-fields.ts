import { dnsNames, type FieldChoices } from "./choices.ts";

const SPEC = "spec.template.spec";
const CONTAINER = `${SPEC}.containers[0]`;
const INIT = `${SPEC}.initContainers[0]`;

const handlers = [
  { exec: { command: ["x"] } },
  { exec: {} },
  { httpGet: { port: 80 } },
  { httpGet: { port: "http", scheme: "FTP", path: "" } },
  { httpGet: { port: 0, httpHeaders: [{ name: "bad name", value: "x" }] } },
  { tcpSocket: { port: "1" } },
  { tcpSocket: { port: 70_000 } },
  { grpc: { port: 0 } },
  { sleep: { seconds: 5 } },
  { sleep: { seconds: 500 } },
  { sleep: { seconds: -1 }, exec: { command: ["x"] } },
  {},
] as const;

const probes = [
  ...handlers,
  { exec: { command: ["x"] }, timeoutSeconds: -1, periodSeconds: -2, failureThreshold: -1, initialDelaySeconds: -4 },
  { exec: { command: ["x"] }, successThreshold: 2 },
  { exec: { command: ["x"] }, terminationGracePeriodSeconds: 0 },
  { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 },
] as const;

const resources = [
  { requests: { cpu: "1" }, limits: { cpu: "2" } },
  { requests: { cpu: "2" }, limits: { cpu: "1000m" } },
  { requests: { memory: "1Gi" }, limits: { memory: "1073741824" } },
  { requests: { cpu: "-1" } },
  { limits: { cpu: "100u", memory: 1.5 } },
  { limits: { nonsense: "1" } },
  { limits: { "example.com/gpu": "1" } },
  { requests: { "example.com/gpu": "1" } },
  { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "2" } },
  { limits: { "example.com/gpu": "500m" } },
  { limits: { "kubernetes.io/thing": "1" } },
  { limits: { "requests.example.com/gpu": "1" } },
  { limits: { pods: "1.5" } },
  { limits: { "bad key!": "1" } },
  { limits: { "hugepages-2Mi": "4Mi" } },
  { limits: { "hugepages-2Mi": "4Mi", cpu: "1" } },
  { limits: { "hugepages-2Mi": "3Mi", cpu: "1" } },
  { requests: { "hugepages-2Mi": "2Mi", cpu: "1" } },
  { limits: { cpu: "1x" } },
  { limits: { cpu: true } },
  { limits: { storage: "1" } },
  { claims: [{ name: "a" }, { name: "a" }, { name: "" }] },
  null,
] as const;

const env = [
  [{ name: "A", value: "1" }],
  [{ name: "", value: "1" }],
  [{ name: "a=b" }],
  [{ name: "ünicode" }],
  [{ name: "with space.and-dots" }],
  [{ name: "A", value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
  [{ name: "A", valueFrom: {} }],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } }],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }],
  [
    {
      name: "A",
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']" } },
    },
  ],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.host" } } }],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "status.phase" } } }],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "nope", apiVersion: "v1" } } }],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name", apiVersion: "v2" } } }],
  [{ name: "A", valueFrom: { fieldRef: { fieldPath: "" } } }],
  [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } }],
  [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2m" } } }],
  [{ name: "A", valueFrom: { resourceFieldRef: { resource: "requests.memory", divisor: "1Mi" } } }],
  [{ name: "A", valueFrom: { resourceFieldRef: { resource: "requests.nope" } } }],
  [{ name: "A", valueFrom: { resourceFieldRef: { resource: "" } } }],
  [{ name: "A", valueFrom: { configMapKeyRef: { name: "m", key: "k" } } }],
  [{ name: "A", valueFrom: { configMapKeyRef: { name: "", key: "" } } }],
  [{ name: "A", valueFrom: { secretKeyRef: { name: "M", key: "a b" } } }],
  [{ name: "A", valueFrom: { secretKeyRef: { name: "m", key: ".." } } }],
  [{ name: "A", valueFrom: { secretKeyRef: { name: "m", key: "k" }, configMapKeyRef: { name: "m", key: "k" } } }],
  [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "v", path: "a", key: "K" } } }],
  [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "", path: "../a", key: "" } } }],
  [null],
  {},
] as const;

const mounts = [
  [{ name: "v", mountPath: "/a" }],
  [
    { name: "v", mountPath: "/a" },
    { name: "v", mountPath: "/a" },
  ],
  [{ name: "nope", mountPath: "/a" }],
  [{ name: "", mountPath: "" }],
  [{ name: "v", mountPath: "/a", subPath: "/abs" }],
  [{ name: "v", mountPath: "/a", subPath: "../x", subPathExpr: "../y" }],
  [{ name: "v", mountPath: "/a", mountPropagation: "Bidirectional" }],
  [{ name: "v", mountPath: "/a", mountPropagation: "Upwards" }],
  [{ name: "v", mountPath: "/a", recursiveReadOnly: "Enabled" }],
  [
    {
      name: "v",
      mountPath: "/a",
      recursiveReadOnly: "IfPossible",
      readOnly: true,
      mountPropagation: "HostToContainer",
    },
  ],
  [{ name: "v", mountPath: "/a", recursiveReadOnly: "Perhaps" }],
] as const;

export const CONTAINER_FIELDS: FieldChoices[] = [
  [`${CONTAINER}.name`, dnsNames],
  [`${CONTAINER}.image`, ["busybox", "busybox:1", "reg.io/a/b:latest", " padded ", "UPPER", "", undefined, null, 3]],
  [`${CONTAINER}.imagePullPolicy`, ["Always", "Never", "Sometimes", ""]],
  [`${CONTAINER}.terminationMessagePolicy`, ["File", "FallbackToLogsOnError", "Other", ""]],
  [`${CONTAINER}.env`, env],
  [
    `${CONTAINER}.envFrom`,
    [
      [{ configMapRef: { name: "m" } }],
      [{ secretRef: { name: "" } }],
      [{}],
      [{ prefix: "a=b", secretRef: { name: "S" }, configMapRef: { name: "x-" } }],
    ],
  ],
  [
    `${CONTAINER}.ports`,
    [
      [{ containerPort: 80 }],
      [{ containerPort: 0 }],
      [{ containerPort: 70_000, hostPort: -1, protocol: "ICMP" }],
      [
        { containerPort: 80, name: "http" },
        { containerPort: 81, name: "http" },
      ],
      [{ containerPort: 80, name: "BAD--name-" }],
      [{ containerPort: 80, name: "0123456789012345" }],
      [
        { containerPort: 80, hostPort: 80 },
        { containerPort: 81, hostPort: 80 },
      ],
    ],
  ],
  [`${CONTAINER}.resources`, resources],
  [`${CONTAINER}.volumeMounts`, mounts],
  [
    `${CONTAINER}.volumeDevices`,
    [[{ name: "v", devicePath: "/dev/x" }], [{ name: "", devicePath: "" }], [{ name: "pvc", devicePath: "/../x" }]],
  ],
  [`${CONTAINER}.livenessProbe`, probes],
  [`${CONTAINER}.readinessProbe`, probes],
  [`${CONTAINER}.startupProbe`, probes],
  [`${CONTAINER}.lifecycle`, handlers.flatMap((preStop) => [{ preStop }, { postStart: preStop }]) as [object]],
  [`${CONTAINER}.restartPolicy`, ["Always", "Never", "Sometimes", ""]],
  [
    `${CONTAINER}.restartPolicyRules`,
    [
      [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }],
      [{ action: "Nope", exitCodes: { operator: "Near" } }],
      [{ action: "RestartAllContainers" }],
    ],
  ],
  [
    `${CONTAINER}.resizePolicy`,
    [
      [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
      [
        { resourceName: "cpu", restartPolicy: "RestartContainer" },
        { resourceName: "cpu", restartPolicy: "" },
      ],
      [{ resourceName: "disk", restartPolicy: "Perhaps" }],
    ],
  ],
  [
    `${CONTAINER}.securityContext`,
    [
      { runAsUser: -1, runAsGroup: 2 ** 31 },
      { allowPrivilegeEscalation: false, capabilities: { add: ["CAP_SYS_ADMIN"] } },
      { seccompProfile: { type: "Localhost" } },
      { seccompProfile: { type: "Localhost", localhostProfile: "../x" } },
      { seccompProfile: { type: "RuntimeDefault", localhostProfile: "x" } },
      { seccompProfile: { type: "" } },
      { seccompProfile: { type: "Odd" }, procMount: "Odd" },
      { appArmorProfile: { type: "Localhost", localhostProfile: " x" } },
      { appArmorProfile: { type: "Localhost" } },
      { appArmorProfile: { type: "Odd", localhostProfile: "x" } },
      { procMount: "Unmasked" },
    ],
  ],
  [
    `${SPEC}.containers`,
    [
      [],
      null,
      [null],
      [{ name: "c" }, { name: "c" }],
      [
        { name: "c", image: "x" },
        { name: "d", image: "x" },
      ],
      {},
    ],
  ],
  [`${INIT}.name`, ["i", "c", "", "BAD"]],
  [
    INIT,
    [
      { name: "i", image: "x" },
      { name: "c", image: "" },
      { name: "i", image: "x", restartPolicy: "Always" },
    ],
  ],
  [`${INIT}.livenessProbe`, probes],
  [`${INIT}.restartPolicy`, ["Always", "OnFailure", "Perhaps"]],
  [
    `${INIT}.ports`,
    [
      [
        { containerPort: 1, hostPort: 5 },
        { containerPort: 2, hostPort: 5 },
      ],
    ],
  ],
  [`${SPEC}.ephemeralContainers`, [[{ name: "e", image: "x" }]]],
];

const files = [
  [{ key: "k", path: "p" }],
  [{ key: "", path: "" }],
  [{ key: "k", path: "/abs", mode: 0o1000 }],
  [{ key: "k", path: "..x", mode: -1 }],
  [{ key: "k", path: "a/../b" }],
] as const;

export const VOLUME_FIELDS: FieldChoices[] = [
  [
    `${SPEC}.volumes[0]`,
    [
      { name: "v" },
      { name: "" },
      { name: "BAD" },
      { name: "v", emptyDir: { sizeLimit: "-1" } },
      { name: "v", emptyDir: {}, hostPath: { path: "/x" }, configMap: { name: "" } },
      { name: "v", hostPath: { path: "" } },
      { name: "v", hostPath: { path: "/a/..", type: "Odd" } },
      { name: "v", secret: {} },
      ...files.flatMap((items) => [
        { name: "v", secret: { secretName: "s", items } },
        { name: "v", configMap: { name: "m", items } },
        { name: "v", projected: { sources: [{ secret: { name: "s", items } }, { configMap: { name: "", items } }] } },
      ]),
      { name: "v", configMap: { defaultMode: 512 } },
      { name: "v", persistentVolumeClaim: { claimName: "" } },
      { name: "v", nfs: { server: "", path: "rel" } },
      { name: "v", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.labels" } }] } },
      { name: "v", downwardAPI: { items: [{ path: "", fieldRef: { fieldPath: "status.podIP" } }, { path: "x" }] } },
      {
        name: "v",
        downwardAPI: { items: [{ path: "p", resourceFieldRef: { resource: "limits.cpu" } }], defaultMode: -1 },
      },
      { name: "v", projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 5 } }] } },
      {
        name: "v",
        projected: {
          sources: [{ serviceAccountToken: { path: "" } }, { secret: { name: "a" }, configMap: { name: "b" } }],
        },
      },
      { name: "v", projected: {} },
      { name: "v", csi: { driver: "" } },
      { name: "v", csi: { driver: "Bad_Driver", nodePublishSecretRef: {} } },
      { name: "v", csi: { driver: "x.io", nodePublishSecretRef: { name: "S" } } },
      { name: "v", ephemeral: {} },
      { name: "v", image: { reference: "", pullPolicy: "Odd" } },
      { name: "v", downwardAPI: {}, emptyDir: {}, cephfs: { monitors: ["a"] } },
    ],
  ],
  [`${SPEC}.volumes[1]`, [{ name: "v" }, { name: "pvc", persistentVolumeClaim: { claimName: "x" } }]],
];
