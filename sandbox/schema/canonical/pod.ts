/** v1 Pod and its status, in the notation of `notation.ts`. */
export const POD_TYPES = {
  Pod: "apiVersion kind metadata:ObjectMeta! spec:PodSpec! status:PodStatus!",
  PodStatus: `
    observedGeneration:int64 phase conditions:PodCondition[] message reason nominatedNodeName hostIP
    hostIPs:HostIP[] podIP podIPs:PodIP[] startTime:time? initContainerStatuses:ContainerStatus[]
    containerStatuses:ContainerStatus[] qosClass ephemeralContainerStatuses:ContainerStatus[] resize
    resourceClaimStatuses:PodResourceClaimStatus[] extendedResourceClaimStatus:PodExtendedResourceClaimStatus?
    allocatedResources:quantity{} resources:ResourceRequirements?
    nodeAllocatableResourceClaimStatuses:NodeAllocatableResourceClaimStatus[]`,
  PodCondition: "type! observedGeneration:int64 status! lastProbeTime:time lastTransitionTime:time reason message",
  HostIP: "ip!",
  PodIP: "ip!",
  ContainerStatus: `
    name! state:ContainerState! lastState:ContainerState! ready:bool! restartCount:int32! image! imageID!
    containerID started:bool? allocatedResources:quantity{} resources:ResourceRequirements?
    volumeMounts:VolumeMountStatus[] user:ContainerUser? allocatedResourcesStatus:ResourceStatus[] stopSignal?`,
  PodResourceClaimStatus: "name! resourceClaimName?",
  PodExtendedResourceClaimStatus: "requestMappings:ContainerExtendedResourceRequest[]! resourceClaimName!",
  NodeAllocatableResourceClaimStatus: "resourceClaimName! containers:string[] resources:quantity{}!",
  ContainerState: `
    waiting:ContainerStateWaiting? running:ContainerStateRunning? terminated:ContainerStateTerminated?`,
  VolumeMountStatus: "name! mountPath! readOnly:bool recursiveReadOnly? volumeStatus:VolumeStatus?",
  ContainerUser: "linux:LinuxContainerUser?",
  ResourceStatus: "name! resources:ResourceHealth[]",
  ContainerExtendedResourceRequest: "containerName! resourceName! requestName!",
  ContainerStateWaiting: "reason message",
  ContainerStateRunning: "startedAt:time",
  ContainerStateTerminated: "exitCode:int32! signal:int32 reason message startedAt:time finishedAt:time containerID",
  VolumeStatus: "image:ImageVolumeStatus?",
  LinuxContainerUser: "uid:int64! gid:int64! supplementalGroups:int64[]",
  ResourceHealth: "resourceID! health message?",
  ImageVolumeStatus: "imageRef",
} as const;
