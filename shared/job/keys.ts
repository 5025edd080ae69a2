/** Names that Kubernetes attaches to Jobs and their pods (section 0.2). */

/** K-20: a pod that carries it has not been counted yet. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
/** K-21: annotation and label of an Indexed Job's pod. */
export const COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index";
/** K-22 */
export const COMPLETION_INDEX_ENV = "JOB_COMPLETION_INDEX";
/** K-23 */
export const INDEX_FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count";
/** K-24 */
export const INDEX_IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count";
/** K-25 */
export const CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid";
export const LEGACY_CONTROLLER_UID_LABEL = "controller-uid";
/** K-26 */
export const JOB_NAME_LABEL = "batch.kubernetes.io/job-name";
export const LEGACY_JOB_NAME_LABEL = "job-name";
/** K-27: the `managedBy` value that means the built-in controller. */
export const BUILT_IN_CONTROLLER = "kubernetes.io/job-controller";
/** K-28: written on Jobs by the CronJob controller. */
export const CRONJOB_SCHEDULED_TIMESTAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** Set by the API server on an object whose deletion waits for its dependents. */
export const FOREGROUND_DELETION_FINALIZER = "foregroundDeletion";
/** Set by the API server on an object whose dependents must lose their owner first. */
export const ORPHAN_FINALIZER = "orphan";
