/**
 * The parts of batch/v1 Job and v1 Pod that our code reads, as JSON. Types describe valid objects; anything from outside
 * is `unknown` until validated or came from an API server. Unknown fields travel along untouched.
 */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

export type ConditionStatus = "True" | "False" | "Unknown";

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {
    key: string;
    operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    values?: string[];
  }[];
}

export interface Job {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: JobSpec;
  status?: JobStatus;
}

type CompletionMode = "NonIndexed" | "Indexed";
type PodReplacementPolicy = "TerminatingOrFailed" | "Failed";

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  activeDeadlineSeconds?: number;
  podFailurePolicy?: PodFailurePolicy;
  successPolicy?: SuccessPolicy;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  selector?: LabelSelector;
  manualSelector?: boolean;
  template: PodTemplate;
  ttlSecondsAfterFinished?: number;
  completionMode?: CompletionMode;
  suspend?: boolean;
  podReplacementPolicy?: PodReplacementPolicy;
  managedBy?: string;
}

export type PodFailurePolicyAction = "FailJob" | "FailIndex" | "Ignore" | "Count";

export interface PodFailurePolicy {
  rules: PodFailurePolicyRule[];
}

export interface PodFailurePolicyRule {
  action: PodFailurePolicyAction;
  onExitCodes?: { containerName?: string; operator: "In" | "NotIn"; values: number[] };
  onPodConditions?: { type: string; status: ConditionStatus }[];
}

export interface SuccessPolicy {
  rules: { succeededIndexes?: string; succeededCount?: number }[];
}

export type JobConditionType = "Suspended" | "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet";

export interface JobCondition {
  /** One of `JobConditionType`, or anything another controller put there. */
  type: string;
  status: ConditionStatus;
  lastProbeTime?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface UncountedTerminatedPods {
  succeeded?: string[];
  failed?: string[];
}

export interface JobStatus {
  conditions?: JobCondition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  ready?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: UncountedTerminatedPods;
}

export interface PodTemplate {
  metadata?: ObjectMeta;
  spec: PodSpec;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: Record<string, unknown>;
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  resources?: { requests?: Record<string, string | number>; limits?: Record<string, string | number> };
  /** `Always` on an init container makes it a sidecar. */
  restartPolicy?: string;
  [field: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  restartPolicy?: string;
  nodeName?: string;
  hostname?: string;
  subdomain?: string;
  activeDeadlineSeconds?: number;
  terminationGracePeriodSeconds?: number;
  [field: string]: unknown;
}

export interface Pod {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: PodSpec;
  status?: PodStatus;
}

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

export interface PodStatus {
  phase?: PodPhase;
  conditions?: {
    type: string;
    status: ConditionStatus;
    lastTransitionTime?: string;
    reason?: string;
    message?: string;
  }[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  startTime?: string;
  reason?: string;
  message?: string;
  [field: string]: unknown;
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  restartCount: number;
  state?: ContainerState;
  lastState?: ContainerState;
  [field: string]: unknown;
}

interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { exitCode: number; reason?: string; startedAt?: string; finishedAt?: string; signal?: number };
}
