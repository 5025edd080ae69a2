/** What each reason of an event or condition means; reference.test.ts compares the names with those in the sources. */
interface Event {
  readonly type: "Normal" | "Warning";
  readonly meaning: string;
}

const normal = (meaning: string): Event => ({ type: "Normal", meaning });
const warning = (meaning: string): Event => ({ type: "Warning", meaning });

/** On a hub Job, from the manager. */
export const HUB_JOB_EVENTS: Record<string, Event> = {
  Queued: normal("it waits; the message says for what"),
  Dispatched: normal("it has a cluster"),
  Redispatched: normal("it has another cluster than before"),
  DispatchFailed: warning(
    "it cannot run anywhere until something is changed, or a cluster refused it; the message says why",
  ),
  AssignmentForged: warning("it carried marks of an assignment that the manager did not write; they were taken away"),
  PriorityCapped: warning("it asks for a higher priority than its queue's `maxPriority`, which counts instead"),
  ParallelismHeld: warning(
    "its `parallelism` was raised, and the quota of its queue has no room for the rest: it goes on as before until there is",
  ),
  RequestsChanged: warning(
    "its pods request something else than when it was placed (it was suspended and edited): it is placed anew",
  ),
  OrphansDeleted: warning("it was deleted with `--cascade=orphan`, which its queue does not allow: its pods go, too"),
  Unschedulable: warning(
    "its cluster found no node for its pods for as long as `unschedulableAfter` says; it moves ([placement](../placement.md))",
  ),
  Preempted: warning("another Job took its room; it waits again, with what it has achieved"),
  ClusterLost: warning("its cluster is lost and its policy allows it to move"),
  CopyChanged: warning(
    "somebody changed or deleted a copy of a ConfigMap or Secret on its worker; whether it is made anew is said ([references](../references.md))",
  ),
  ReferencesChanged: normal(
    "it moves, and ConfigMaps or Secrets that it takes along have changed on the hub ([references](../references.md#it-is-a-snapshot))",
  ),
  StatusRejected: warning("a status was not written: no Job may have it, or the hub does not take it"),
  ShadowPodsLimited: normal(
    "it has more pods than are [shown on the hub](../pods.md); those that failed are shown first",
  ),
  ShadowPodRefused: warning(
    "the hub does not take a shadow of one of its pods: a quota, a policy, a name. The Job runs all the same",
  ),
};

/** In the status of a shadow pod, besides those of the worker's pod. */
export const SHADOW_POD_REASONS: Record<string, string> = {
  WaitingForCluster: "condition PodScheduled: its Job has no cluster; the message says why",
  NodeLost: "its cluster is lost: this is what was last known of the pod",
};

/** On a WorkerCluster, from the manager. */
export const CLUSTER_EVENTS: Record<string, Event> = {
  MessageRefused: warning(
    "its agent sent something that was not acted upon; the message has the [code](error-codes.md)",
  ),
  SetAside: warning(
    "Job after Job failed there at its start: it gets none for a while ([placement](../placement.md#clusters-that-fail-jobs))",
  ),
  TakenBack: normal("a Job that was tried there has started well: it gets Jobs again"),
};

/** On a Job, from the Job controller; with dispatch on the mirror, and warnings are passed on to the hub Job. */
export const JOB_CONTROLLER_EVENTS: Record<string, Event> = {
  SuccessfulCreate: normal("a pod was created"),
  SuccessfulDelete: normal("a pod was deleted"),
  Suspended: normal("the Job is suspended and its pods are deleted"),
  Resumed: normal("the Job goes on"),
  Completed: normal("the Job is Complete"),
  FailedCreate: warning("a pod could not be created"),
  FailedDelete: warning("a pod could not be deleted"),
  TooManySucceededPods: warning("more pods succeeded than the Job asked for"),
  BackoffLimitExceeded: warning("the Job failed: too many pods failed"),
  DeadlineExceeded: warning("the Job failed: it ran longer than `activeDeadlineSeconds`"),
  PodFailurePolicy: warning("the Job failed: a pod matched a `FailJob` rule"),
  FailedIndexes: warning("the Job failed: some of its indexes did"),
  MaxFailedIndexesExceeded: warning("the Job failed: more indexes failed than `maxFailedIndexes`"),
  UnknownCompletionMode: warning("the Job's `completionMode` is not known here; nothing is done"),
  InvalidAnnotation: warning("an [extension](../extensions.md) of the Job is written wrongly and is ignored"),
};

/** Why a cluster does not take a Job: in the message of `DispatchFailed` and of `jobferry.dev/message`. */
export const REFUSALS: Record<string, string> = {
  NamespaceMissing: "the worker does not have the namespace",
  NamespaceTerminating: "the worker's namespace is being deleted",
  NameTaken: "the worker has a Job of that name which is not Jobferry's",
  NamespaceNotAccepted: "the worker's operator does not let Jobs of a hub into that namespace",
  PodNotAccepted:
    "the worker's operator does not let such pods run: they reach the node, or act as an account that has no leave",
  QuotaExceeded: "a ResourceQuota of the worker leaves no room",
  AdmissionDenied: "a policy or webhook of the worker says no",
  ServiceAccountMissing: "the worker does not have the pods' service account",
  ReferenceMissing:
    "the worker does not have something that the pods need; the message names it ([references](../references.md))",
  ReferenceNotAccepted: "the worker takes no ConfigMaps or Secrets of the hub ([references](../references.md))",
  ManagedByUnsupported: "the worker does not store `spec.managedBy`",
  SchedulingUnsupported:
    "the Job has `spec.scheduling` (Kubernetes 1.37), which only the worker's own Job controller may know",
  Invalid: "the worker's API server does not accept the Job",
  Other: "anything else that the worker's API server says; the message has its words",
};

/** Of a WorkerCluster, by type. */
export const CLUSTER_CONDITIONS: Record<string, Record<string, string>> = {
  Connected: {
    Heartbeats: "True: the agent is heard",
    Silent: "False: nothing was heard for 15 s; the message says how much counts towards `lostAfter`",
    QueueUnreachable: "False: Redis does not answer for the queue of this cluster, so that its loss timer stands still",
    MostClustersSilent: "False: most clusters are silent at once, so that no loss timer runs",
    OtherManagerKey: "False: the agent is heard, but trusts another manager's key",
    TwoAgents: "True: two agents speak under this name with the same keys; one of them should not be",
    MessagesRefused: "False: what the agent sends is refused; the message says why",
  },
  Ready: {
    Accepting: "True: Jobs can be placed here",
    SetAside: "False: Job after Job failed there at its start; none is placed there for a while",
    OnTrial: "False: that while is over; one Job at a time is placed there, until one starts well",
    NotConnected: "False: the agent is not connected",
    OtherManagerKey: "False: as above",
    Rebuilt: "False: another cluster answers under this name; enrol it again",
  },
};

/** Of a Job, as with the built-in controller. */
export const JOB_CONDITIONS: Record<string, string> = {
  CompletionsReached: "SuccessCriteriaMet, Complete: enough pods succeeded",
  SuccessPolicy: "SuccessCriteriaMet, Complete: the success policy is met",
  JobSuspended: "Suspended=True",
  JobResumed: "Suspended=False",
};
