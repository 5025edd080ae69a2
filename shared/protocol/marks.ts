/**
 * The words Jobferry writes on Jobs, on the hub and on the workers, and the ones it reads. Each comment says where it stands, who
 * writes it, and what it means: docs/reference/marks.md is made of them.
 */

/** Hub Job, by the submitter or the admission policy: the manager claims the Job. */
export const HUB_MANAGED_BY = "jobferry.dev/manager";
/** Mirror, by the agent: its Job controller is the agent's, not the cluster's own. */
export const WORKER_MANAGED_BY = "jobferry.dev/worker-agent";

/** Hub Job, by the submitter: the JobQueue that it waits in; `default` unless set. */
export const QUEUE_LABEL = "jobferry.dev/queue";
/** Hub Job, by the submitter: labels that its cluster must have, as a label selector. */
export const CLUSTER_SELECTOR = "jobferry.dev/cluster-selector";
/** Hub Job, by the submitter: 0 to 1000000; a higher number goes first. */
export const PRIORITY = "jobferry.dev/priority";
/** Hub Job, by the submitter: `true`: all pods that run at a time must have room at once. */
export const GANG = "jobferry.dev/gang";
/** Hub Job, by the submitter: another value than before makes clusters that refused the Job be asked again at once. */
export const RETRY = "jobferry.dev/retry";
/** Hub Job, by the submitter: what happens when its cluster is lost: `Redispatch`, `Wait` or `StopThenRedispatch`. */
export const ON_CLUSTER_LOST = "jobferry.dev/on-cluster-lost";
/** Hub Job, by the submitter: whether it goes on elsewhere when ConfigMaps or Secrets that it took along have changed: `Use` or `Wait`. */
export const ON_REFERENCE_CHANGE = "jobferry.dev/on-reference-change";

/** Hub Job, by the submitter: how long its pods may find no node before it moves to another cluster, as `5m`. Unless set, as its queue says. */
export const UNSCHEDULABLE_AFTER = "jobferry.dev/unschedulable-after";
/** Hub Job, by the submitter: whether its pods are shown on the hub: `Shadow` or `None`. Unless set, as its queue says. */
export const PODS = "jobferry.dev/pods";

/** Hub Job, by the manager: the cluster that has the Job. */
export const CLUSTER = "jobferry.dev/cluster";
/** Hub Job and mirror, by the manager and the agent: counts the assignments of the Job. */
export const EPOCH = "jobferry.dev/epoch";
/** Hub Job, by the manager: the queue that it was placed by, and is booked under. */
export const ASSIGNED_QUEUE = "jobferry.dev/assigned-queue";
/** Hub Job, by the manager: a MAC over the assignment; one without it was not written by the manager and does not count. */
export const GRANT = "jobferry.dev/grant";
/** Hub Job, by the manager: how many pods at a time it was let in with, and a MAC over that and what they request. */
export const ADMITTED = "jobferry.dev/admitted";
/** Hub Job, by the manager: the last report that was stored in its status, as epoch, number and UID of the cluster. */
export const SEQ = "jobferry.dev/seq";
/** Hub Job, by the manager: it is asked back from its cluster: the epoch, the kind of reason and the reason. */
export const LEAVING = "jobferry.dev/leaving";
/** Hub Job, by the manager: how often it was displaced by others, and when last. */
export const PREEMPTED = "jobferry.dev/preempted";
/** Hub Job, by the manager: why it waits, or where it went. */
export const MESSAGE = "jobferry.dev/message";
/** Hub Job, by the manager: the ConfigMaps and Secrets that it took along, each with the first digits of a MAC of its contents. */
export const TAKEN = "jobferry.dev/taken";
/** Hub Job, by the manager: holds a deleted Job until its mirror is gone. */
export const WITHDRAW_FINALIZER = "jobferry.dev/withdraw";

/** Namespace or service account of a worker, by an administrator: `enabled`: Jobs of a hub may run there, or act as it. */
export const ACCEPT_LABEL = "jobferry.dev/accept";

/** Mirror, by the agent: the UID of its hub Job. */
export const HUB_UID_LABEL = "jobferry.dev/hub-uid";
/** Mirror, by the agent: a MAC over that UID and the mirror's namespace and name; a Job without it is not this agent's mirror. */
export const PROOF = "jobferry.dev/proof";
/** Mirror, by the agent: the hub Job's generation that it was last brought up to. */
export const GENERATION = "jobferry.dev/generation";
/** Mirror, by the agent: the hub Job's resourceVersion that it was last brought up to. */
export const REVISION = "jobferry.dev/revision";
/** Hub Job and mirror, by the manager and the agent: seconds without contact after which the agent stops the mirror's pods. */
export const STOP_AFTER = "jobferry.dev/stop-after";
/** Mirror, by the agent: its status has still to be seeded with what earlier epochs achieved. */
export const CARRY = "jobferry.dev/carry";

/** Mirror, by the agent: how many of its pods the manager shows on the hub at most; without it, none are reported. */
export const SHADOW_PODS = "jobferry.dev/shadow-pods";

/** Node `jobferry`, by the manager: nothing is scheduled there. */
export const VIRTUAL_TAINT = "jobferry.dev/virtual";
/** Shadow pod, by the manager: it stands for a pod on a worker; the UID of its hub Job. */
export const SHADOW_LABEL = "jobferry.dev/shadow";
/** Shadow pod, by the manager: the name of the worker's pod that it stands for. */
export const WORKER_POD = "jobferry.dev/worker-pod";
/** Shadow pod, by the manager: the UID of that pod. */
export const WORKER_POD_UID = "jobferry.dev/worker-pod-uid";
/** Shadow pod, by the manager: the node that runs that pod. */
export const WORKER_NODE = "jobferry.dev/worker-node";
/** Shadow pod, by the manager: what its containers request and are limited to on the worker, as JSON. */
export const RESOURCES = "jobferry.dev/resources";
/** Mirror, by the agent: it gets no pods until the copies of its ConfigMaps and Secrets are here. */
export const AWAITS = "jobferry.dev/awaits";
/** ConfigMap and Secret on a worker, by the agent: a copy of one of the hub; it goes with the last mirror that refers to it. */
export const COPY_LABEL = "jobferry.dev/copy";
/** ConfigMap and Secret on a worker, by the agent: namespace and name of the original. */
export const COPY_OF = "jobferry.dev/copy-of";
/** ConfigMap and Secret on a worker, by the agent: the hash of what it holds, as the manager gave it. */
export const COPY_HASH = "jobferry.dev/copy-hash";
/** ConfigMap and Secret on a worker, by the agent: a MAC over the copy; one without it was changed by somebody else. */
export const COPY_MAC = "jobferry.dev/copy-mac";

/** Mirror, by the agent: this epoch has ended here; it is stopped and waits until the hub has stored what it achieved. */
export const OVER = "jobferry.dev/over";

export const DEFAULT_QUEUE = "default";
