/** The words Jobferry writes on Jobs, on the hub and on the workers, and the ones it reads. */

/** `spec.managedBy` of a hub Job that the manager claims. */
export const HUB_MANAGED_BY = "jobferry.dev/manager";
/** `spec.managedBy` of a mirror whose Job controller is the worker-agent's. */
export const WORKER_MANAGED_BY = "jobferry.dev/worker-agent";

/** On a hub Job, set by the submitter. */
export const QUEUE_LABEL = "jobferry.dev/queue";
export const CLUSTER_SELECTOR = "jobferry.dev/cluster-selector";
export const PRIORITY = "jobferry.dev/priority";
/** "true": all pods that run at a time must have room at once. */
export const GANG = "jobferry.dev/gang";
export const ON_CLUSTER_LOST = "jobferry.dev/on-cluster-lost";

/** On a hub Job, written by the manager alone. */
export const CLUSTER = "jobferry.dev/cluster";
export const EPOCH = "jobferry.dev/epoch";
/** Sequence number of the last report that was mirrored. */
export const SEQ = "jobferry.dev/seq";
export const MESSAGE = "jobferry.dev/message";
/** Holds a deleted hub Job until its mirror is gone. */
export const WITHDRAW_FINALIZER = "jobferry.dev/withdraw";

/** On a mirror, written by the agent alone (besides EPOCH). */
export const HUB_UID_LABEL = "jobferry.dev/hub-uid";
export const GENERATION = "jobferry.dev/generation";
/** The hub's resourceVersion that the mirror was last brought up to. */
export const REVISION = "jobferry.dev/revision";
/** Also on the hub Job: seconds without contact after which the agent stops the mirror's pods. */
export const STOP_AFTER = "jobferry.dev/stop-after";
/** Present while the mirror's status has still to be seeded with what earlier epochs achieved. */
export const CARRY = "jobferry.dev/carry";

export const DEFAULT_QUEUE = "default";
