/** Jobs whose outcome depends on what their containers really do. All use `busybox:1` unless they say otherwise. */
import type { JobSpec, PodSpec } from "@jobferry/shared/job/types.ts";

export interface Case {
  readonly job: Partial<Omit<JobSpec, "template">>;
  readonly pod: Partial<PodSpec>;
  /** What the Job must come to, whoever runs it: its last condition with its reason, its counters, the ends of containers. */
  readonly expected: {
    readonly condition: string;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly completedIndexes?: string;
    readonly failedIndexes?: string;
    /** Of the pods that are left, each container's exit code and reason. */
    readonly ends?: readonly string[];
  };
}

const image = "busybox:1";
const main = (script: string, more: object = {}) => ({ name: "main", image, command: ["sh", "-c", script], ...more });
const runs = (script: string, more: object = {}): Partial<PodSpec> => ({ containers: [main(script, more)] }) as PodSpec;
const shared = { volumes: [{ name: "v", emptyDir: {} }] };
const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
const once = { backoffLimit: 0 };
const indexed = (completions: number) =>
  ({ completionMode: "Indexed", completions, parallelism: completions }) as const;
const byExitCode = (action: string, ...values: number[]) => ({
  podFailurePolicy: { rules: [{ action, onExitCodes: { operator: "In", values } }] } as never,
});

export const cases: Record<string, Case> = {
  "exit code 0": {
    job: {},
    pod: runs("true"),
    expected: { condition: "Complete CompletionsReached", succeeded: 1, ends: ["main 0 Completed"] },
  },
  "exit code 3, tried twice": {
    job: { backoffLimit: 1 },
    pod: runs("exit 3"),
    expected: { condition: "Failed BackoffLimitExceeded", failed: 2, ends: ["main 3 Error", "main 3 Error"] },
  },
  "a command that does not exist": {
    job: once,
    pod: { containers: [{ name: "main", image, command: ["/no/such/program"] }] } as never,
    expected: { condition: "Failed BackoffLimitExceeded", failed: 1, ends: ["main 128 StartError"] },
  },
  "more memory than its limit": {
    job: once,
    pod: runs("exec tail /dev/zero", { resources: { limits: { memory: "32Mi" } } }),
    expected: { condition: "Failed BackoffLimitExceeded", failed: 1, ends: ["main 137 OOMKilled"] },
  },
  "an image that cannot be pulled, until the Job's deadline": {
    job: { activeDeadlineSeconds: 6 },
    pod: { containers: [{ name: "main", image: "nobody/nothing:1" }] } as never,
    expected: { condition: "Failed DeadlineExceeded", failed: 1, ends: [] },
  },
  "a container that is restarted in its pod": {
    job: { backoffLimit: 2 }, // restarts count, too
    pod: {
      ...runs("[ -e /v/again ] || { touch /v/again; exit 1; }", mounted),
      ...shared,
      restartPolicy: "OnFailure",
    } as never,
    expected: { condition: "Complete CompletionsReached", succeeded: 1, ends: ["main 0 Completed"] },
  },
  "init container, sidecar and a volume between them": {
    job: once,
    pod: {
      ...shared,
      initContainers: [
        { ...main("echo made > /v/file", mounted), name: "first" },
        { ...main("trap 'exit 0' TERM; while :; do sleep 0.1; done"), name: "beside", restartPolicy: "Always" },
      ],
      ...runs("grep made /v/file", mounted),
    } as never,
    expected: {
      condition: "Complete CompletionsReached",
      succeeded: 1,
      ends: ["beside 0 Completed", "first 0 Completed", "main 0 Completed"],
    },
  },
  "an init container that fails": {
    job: once,
    pod: { initContainers: [{ ...main("exit 5"), name: "first" }], ...runs("true") } as never,
    expected: { condition: "Failed BackoffLimitExceeded", failed: 1, ends: ["first 5 Error"] },
  },
  "activeDeadlineSeconds of the Job": {
    job: { activeDeadlineSeconds: 4 },
    pod: runs("sleep 1000"),
    expected: { condition: "Failed DeadlineExceeded", failed: 1, ends: [] },
  },
  "activeDeadlineSeconds of the pod": {
    job: once,
    pod: { ...runs("sleep 1000"), activeDeadlineSeconds: 2 } as never,
    expected: { condition: "Failed BackoffLimitExceeded", failed: 1 },
  },
  "a ConfigMap as a volume and in the environment": {
    job: once,
    pod: {
      volumes: [{ name: "v", configMap: { name: "settings" } }],
      ...runs('[ "$(cat /v/word)" = ferry ] && [ "$WORD" = ferry ]', {
        ...mounted,
        env: [{ name: "WORD", valueFrom: { configMapKeyRef: { name: "settings", key: "word" } } }],
      }),
    } as never,
    expected: { condition: "Complete CompletionsReached", succeeded: 1, ends: ["main 0 Completed"] },
  },
  "an eviction by the kubelet": {
    job: once,
    pod: {
      volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }],
      ...runs("dd if=/dev/zero of=/v/file bs=1M count=8; sleep 1000", mounted),
    } as never,
    expected: { condition: "Failed BackoffLimitExceeded", failed: 1, ends: ["main 137 Evicted"] },
  },
  "podFailurePolicy: FailJob by exit code": {
    job: { backoffLimit: 5, ...byExitCode("FailJob", 42) },
    pod: runs("exit 42"),
    expected: { condition: "Failed PodFailurePolicy", failed: 1, ends: ["main 42 Error"] },
  },
  "podFailurePolicy: other exit codes count": {
    job: { backoffLimit: 1, ...byExitCode("FailJob", 42) },
    pod: runs("exit 43"),
    expected: { condition: "Failed BackoffLimitExceeded", failed: 2 },
  },
  "podFailurePolicy: FailIndex by exit code": {
    job: { ...indexed(3), backoffLimitPerIndex: 3, ...byExitCode("FailIndex", 42) },
    pod: runs("[ $JOB_COMPLETION_INDEX != 1 ] || exit 42"),
    expected: {
      condition: "Failed FailedIndexes",
      succeeded: 2,
      failed: 1,
      completedIndexes: "0,2",
      failedIndexes: "1",
    },
  },
  "backoffLimitPerIndex by real failures": {
    job: { ...indexed(3), backoffLimitPerIndex: 1 },
    pod: runs("exit $((JOB_COMPLETION_INDEX % 2))"),
    expected: {
      condition: "Failed FailedIndexes",
      succeeded: 2,
      failed: 2,
      completedIndexes: "0,2",
      failedIndexes: "1",
    },
  },
  "successPolicy: one index is enough": {
    job: { ...indexed(3), successPolicy: { rules: [{ succeededIndexes: "1" }] } as never },
    pod: runs("[ $JOB_COMPLETION_INDEX = 1 ] || sleep 1000"),
    expected: { condition: "Complete SuccessPolicy", succeeded: 1, completedIndexes: "1" },
  },
};
