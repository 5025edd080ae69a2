/** batch/v1 Job and CronJob, in the notation of `notation.ts`. */
export const JOB_TYPES = {
  Job: "apiVersion kind metadata:ObjectMeta! spec:JobSpec! status:JobStatus!",
  JobSpec: `
    parallelism:int32? completions:int32? activeDeadlineSeconds:int64? podFailurePolicy:PodFailurePolicy?
    successPolicy:SuccessPolicy? backoffLimit:int32? backoffLimitPerIndex:int32? maxFailedIndexes:int32?
    selector:LabelSelector? manualSelector:bool? template:PodTemplateSpec! ttlSecondsAfterFinished:int32?
    completionMode? suspend:bool? podReplacementPolicy? managedBy?`,
  PodTemplateSpec: "metadata:ObjectMeta! spec:PodSpec!",
  PodFailurePolicy: "rules:PodFailurePolicyRule[]!",
  PodFailurePolicyRule: `
    action! onExitCodes:PodFailurePolicyOnExitCodesRequirement?
    onPodConditions:PodFailurePolicyOnPodConditionsPattern[]`,
  PodFailurePolicyOnExitCodesRequirement: "containerName? operator! values:int32[]!",
  PodFailurePolicyOnPodConditionsPattern: "type! status!",
  SuccessPolicy: "rules:SuccessPolicyRule[]!",
  SuccessPolicyRule: "succeededIndexes? succeededCount:int32?",
  JobStatus: `
    conditions:JobCondition[] startTime:time? completionTime:time? active:int32 succeeded:int32 failed:int32
    terminating:int32? completedIndexes failedIndexes? uncountedTerminatedPods:UncountedTerminatedPods? ready:int32?`,
  JobCondition: "type! status! lastProbeTime:time lastTransitionTime:time reason message",
  UncountedTerminatedPods: "succeeded:string[] failed:string[]",
  CronJob: "apiVersion kind metadata:ObjectMeta! spec:CronJobSpec! status:CronJobStatus!",
  CronJobSpec: `
    schedule! timeZone? startingDeadlineSeconds:int64? concurrencyPolicy suspend:bool? jobTemplate:JobTemplateSpec!
    successfulJobsHistoryLimit:int32? failedJobsHistoryLimit:int32?`,
  JobTemplateSpec: "metadata:ObjectMeta! spec:JobSpec!",
  CronJobStatus: "active:ObjectReference[] lastScheduleTime:time? lastSuccessfulTime:time?",
} as const;
