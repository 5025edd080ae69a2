/** Jobs from which updates and status transitions start: one for every rule that depends on what is stored. */

const template = (podSpec: object = {}, metadata: object = {}): object => ({
  metadata,
  spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox:1" }], ...podSpec },
});

export interface StoredJob {
  readonly name: string;
  readonly spec: object;
  /** Written to the status subresource after the Job is created. */
  readonly status?: object;
}

const suspendedCondition = { type: "Suspended", status: "True" };
const startTime = "2026-01-01T00:00:00Z";
const nodeAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }],
  },
};

export const STORED_JOBS: readonly StoredJob[] = [
  { name: "plain", spec: { template: template() } },
  { name: "queue", spec: { parallelism: 2, template: template() } },
  { name: "indexed", spec: { completions: 3, completionMode: "Indexed", template: template() } },
  {
    name: "elastic",
    spec: { completions: 3, parallelism: 3, completionMode: "Indexed", backoffLimitPerIndex: 1, template: template() },
  },
  {
    name: "policies",
    spec: {
      completions: 4,
      completionMode: "Indexed",
      podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [1] } }] },
      successPolicy: { rules: [{ succeededIndexes: "0-1", succeededCount: 1 }] },
      managedBy: "example.com/controller",
      template: template(),
    },
  },
  {
    name: "manual",
    spec: {
      manualSelector: true,
      selector: { matchLabels: { a: "b" } },
      template: template({}, { labels: { a: "b" } }),
    },
  },
  { name: "suspended", spec: { suspend: true, template: template({ initContainers: [{ name: "i", image: "x:1" }] }) } },
  {
    name: "suspended-again",
    spec: { suspend: true, template: template({ affinity: { nodeAffinity } }) },
    status: { startTime, conditions: [suspendedCondition] },
  },
  {
    name: "suspending",
    spec: { suspend: true, template: template({ affinity: { podAffinity: {} } }) },
    status: { startTime, active: 1, ready: 0, conditions: [suspendedCondition] },
  },
  { name: "started-suspended", spec: { suspend: true, template: template() }, status: { startTime } },
  {
    name: "resumed",
    spec: { template: template({ tolerations: [{ operator: "Exists" }] }) },
    status: { startTime, conditions: [suspendedCondition] },
  },
  { name: "nothing", spec: { suspend: true, completions: 0, parallelism: 0, template: template() } },
  {
    name: "done",
    spec: { template: template({ containers: [{ name: "c", image: "x", resources: { limits: { memory: "1Gi" } } }] }) },
    status: {
      startTime,
      completionTime: "2026-01-01T00:01:00Z",
      succeeded: 1,
      conditions: [
        { type: "SuccessCriteriaMet", status: "True" },
        { type: "Complete", status: "True" },
      ],
    },
  },
];
