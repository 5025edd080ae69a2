/**
 * The fields of the built-in kinds of Kubernetes 1.36 that the sandbox serves, one kind per line. A type is a scalar
 * name, `#Kind`, `{}T` for a map, `[]T` for a list that a patch replaces, `[key]T` for one that a strategic patch merges by `key`
 * (`[=]T`: by value), with `~` in front where the patch may name the keys to retain.
 */
export const BUILT_IN_KINDS = `
AWSElasticBlockStoreVolumeSource fsType:string partition:int32 readOnly:bool volumeID:string
Affinity nodeAffinity:#NodeAffinity podAffinity:#PodAffinity podAntiAffinity:#PodAntiAffinity
AppArmorProfile localhostProfile:string type:string
AttachedVolume devicePath:string name:string
AzureDiskVolumeSource cachingMode:string diskName:string diskURI:string fsType:string kind:string readOnly:bool
AzureFileVolumeSource readOnly:bool secretName:string shareName:string
Binding apiVersion:string kind:string metadata:#ObjectMeta target:#ObjectReference
CSIVolumeSource driver:string fsType:string nodePublishSecretRef:#LocalObjectReference readOnly:bool volumeAttributes:{}string
Capabilities add:[]string drop:[]string
CephFSVolumeSource monitors:[]string path:string readOnly:bool secretFile:string secretRef:#LocalObjectReference user:string
CinderVolumeSource fsType:string readOnly:bool secretRef:#LocalObjectReference volumeID:string
ClusterTrustBundleProjection labelSelector:#LabelSelector name:string optional:bool path:string signerName:string
ConfigMap apiVersion:string binaryData:{}bytes data:{}string immutable:bool kind:string metadata:#ObjectMeta
ConfigMapEnvSource name:string optional:bool
ConfigMapKeySelector key:string name:string optional:bool
ConfigMapNodeConfigSource kubeletConfigKey:string name:string namespace:string resourceVersion:string uid:string
ConfigMapProjection items:[]#KeyToPath name:string optional:bool
ConfigMapVolumeSource defaultMode:int32 items:[]#KeyToPath name:string optional:bool
Container args:[]string command:[]string env:[name]#EnvVar envFrom:[]#EnvFromSource image:string imagePullPolicy:string lifecycle:#Lifecycle livenessProbe:#Probe name:string ports:[containerPort]#ContainerPort readinessProbe:#Probe resizePolicy:[]#ContainerResizePolicy resources:#ResourceRequirements restartPolicy:string restartPolicyRules:[]#ContainerRestartRule securityContext:#SecurityContext startupProbe:#Probe stdin:bool stdinOnce:bool terminationMessagePath:string terminationMessagePolicy:string tty:bool volumeDevices:[devicePath]#VolumeDevice volumeMounts:[mountPath]#VolumeMount workingDir:string
ContainerExtendedResourceRequest containerName:string requestName:string resourceName:string
ContainerImage names:[]string sizeBytes:int64
ContainerPort containerPort:int32 hostIP:string hostPort:int32 name:string protocol:string
ContainerResizePolicy resourceName:string restartPolicy:string
ContainerRestartRule action:string exitCodes:#ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator:string values:[]int32
ContainerState running:#ContainerStateRunning terminated:#ContainerStateTerminated waiting:#ContainerStateWaiting
ContainerStateRunning startedAt:time
ContainerStateTerminated containerID:string exitCode:int32 finishedAt:time message:string reason:string signal:int32 startedAt:time
ContainerStateWaiting message:string reason:string
ContainerStatus allocatedResources:{}quantity allocatedResourcesStatus:[name]#ResourceStatus containerID:string image:string imageID:string lastState:#ContainerState name:string ready:bool resources:#ResourceRequirements restartCount:int32 started:bool state:#ContainerState stopSignal:string user:#ContainerUser volumeMounts:[mountPath]#VolumeMountStatus
ContainerUser linux:#LinuxContainerUser
CronJob apiVersion:string kind:string metadata:#ObjectMeta spec:#CronJobSpec status:#CronJobStatus
CronJobSpec concurrencyPolicy:string failedJobsHistoryLimit:int32 jobTemplate:#JobTemplateSpec schedule:string startingDeadlineSeconds:int64 successfulJobsHistoryLimit:int32 suspend:bool timeZone:string
CronJobStatus active:[]#ObjectReference lastScheduleTime:time lastSuccessfulTime:time
DaemonEndpoint Port:int32
DeleteOptions apiVersion:string dryRun:[]string gracePeriodSeconds:int64 ignoreStoreReadErrorWithClusterBreakingPotential:bool kind:string orphanDependents:bool preconditions:#Preconditions propagationPolicy:string
DownwardAPIProjection items:[]#DownwardAPIVolumeFile
DownwardAPIVolumeFile fieldRef:#ObjectFieldSelector mode:int32 path:string resourceFieldRef:#ResourceFieldSelector
DownwardAPIVolumeSource defaultMode:int32 items:[]#DownwardAPIVolumeFile
EmptyDirVolumeSource medium:string sizeLimit:quantity
EnvFromSource configMapRef:#ConfigMapEnvSource prefix:string secretRef:#SecretEnvSource
EnvVar name:string value:string valueFrom:#EnvVarSource
EnvVarSource configMapKeyRef:#ConfigMapKeySelector fieldRef:#ObjectFieldSelector fileKeyRef:#FileKeySelector resourceFieldRef:#ResourceFieldSelector secretKeyRef:#SecretKeySelector
EphemeralContainer args:[]string command:[]string env:[name]#EnvVar envFrom:[]#EnvFromSource image:string imagePullPolicy:string lifecycle:#Lifecycle livenessProbe:#Probe name:string ports:[containerPort]#ContainerPort readinessProbe:#Probe resizePolicy:[]#ContainerResizePolicy resources:#ResourceRequirements restartPolicy:string restartPolicyRules:[]#ContainerRestartRule securityContext:#SecurityContext startupProbe:#Probe stdin:bool stdinOnce:bool targetContainerName:string terminationMessagePath:string terminationMessagePolicy:string tty:bool volumeDevices:[devicePath]#VolumeDevice volumeMounts:[mountPath]#VolumeMount workingDir:string
EphemeralVolumeSource volumeClaimTemplate:#PersistentVolumeClaimTemplate
Event action:string apiVersion:string count:int32 eventTime:micro firstTimestamp:time involvedObject:#ObjectReference kind:string lastTimestamp:time message:string metadata:#ObjectMeta reason:string related:#ObjectReference reportingComponent:string reportingInstance:string series:#EventSeries source:#EventSource type:string
EventSeries count:int32 lastObservedTime:micro
EventSource component:string host:string
Eviction apiVersion:string deleteOptions:#DeleteOptions kind:string metadata:#ObjectMeta
ExecAction command:[]string
FCVolumeSource fsType:string lun:int32 readOnly:bool targetWWNs:[]string wwids:[]string
FileKeySelector key:string optional:bool path:string volumeName:string
FlexVolumeSource driver:string fsType:string options:{}string readOnly:bool secretRef:#LocalObjectReference
FlockerVolumeSource datasetName:string datasetUUID:string
GCEPersistentDiskVolumeSource fsType:string partition:int32 pdName:string readOnly:bool
GRPCAction port:int32 service:string
GitRepoVolumeSource directory:string repository:string revision:string
GlusterfsVolumeSource endpoints:string path:string readOnly:bool
HTTPGetAction host:string httpHeaders:[]#HTTPHeader path:string port:intOrString scheme:string
HTTPHeader name:string value:string
HostAlias hostnames:[]string ip:string
HostIP ip:string
HostPathVolumeSource path:string type:string
ISCSIVolumeSource chapAuthDiscovery:bool chapAuthSession:bool fsType:string initiatorName:string iqn:string iscsiInterface:string lun:int32 portals:[]string readOnly:bool secretRef:#LocalObjectReference targetPortal:string
ImageVolumeSource pullPolicy:string reference:string
ImageVolumeStatus imageRef:string
Job apiVersion:string kind:string metadata:#ObjectMeta spec:#JobSpec status:#JobStatus
JobCondition lastProbeTime:time lastTransitionTime:time message:string reason:string status:string type:string
JobSpec activeDeadlineSeconds:int64 backoffLimit:int32 backoffLimitPerIndex:int32 completionMode:string completions:int32 managedBy:string manualSelector:bool maxFailedIndexes:int32 parallelism:int32 podFailurePolicy:#PodFailurePolicy podReplacementPolicy:string selector:#LabelSelector successPolicy:#SuccessPolicy suspend:bool template:#PodTemplateSpec ttlSecondsAfterFinished:int32
JobStatus active:int32 completedIndexes:string completionTime:time conditions:[type]#JobCondition failed:int32 failedIndexes:string ready:int32 startTime:time succeeded:int32 terminating:int32 uncountedTerminatedPods:#UncountedTerminatedPods
JobTemplateSpec metadata:#ObjectMeta spec:#JobSpec
KeyToPath key:string mode:int32 path:string
LabelSelector matchExpressions:[]#LabelSelectorRequirement matchLabels:{}string
LabelSelectorRequirement key:string operator:string values:[]string
Lease apiVersion:string kind:string metadata:#ObjectMeta spec:#LeaseSpec
LeaseSpec acquireTime:micro holderIdentity:string leaseDurationSeconds:int32 leaseTransitions:int32 preferredHolder:string renewTime:micro strategy:string
Lifecycle postStart:#LifecycleHandler preStop:#LifecycleHandler stopSignal:string
LifecycleHandler exec:#ExecAction httpGet:#HTTPGetAction sleep:#SleepAction tcpSocket:#TCPSocketAction
LinuxContainerUser gid:int64 supplementalGroups:[]int64 uid:int64
LocalObjectReference name:string
ManagedFieldsEntry apiVersion:string fieldsType:string fieldsV1:any manager:string operation:string subresource:string time:time
NFSVolumeSource path:string readOnly:bool server:string
Namespace apiVersion:string kind:string metadata:#ObjectMeta spec:#NamespaceSpec status:#NamespaceStatus
NamespaceCondition lastTransitionTime:time message:string reason:string status:string type:string
NamespaceSpec finalizers:[]string
NamespaceStatus conditions:[type]#NamespaceCondition phase:string
Node apiVersion:string kind:string metadata:#ObjectMeta spec:#NodeSpec status:#NodeStatus
NodeAddress address:string type:string
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution:[]#PreferredSchedulingTerm requiredDuringSchedulingIgnoredDuringExecution:#NodeSelector
NodeAllocatableResourceClaimStatus containers:[]string resourceClaimName:string resources:{}quantity
NodeCondition lastHeartbeatTime:time lastTransitionTime:time message:string reason:string status:string type:string
NodeConfigSource configMap:#ConfigMapNodeConfigSource
NodeConfigStatus active:#NodeConfigSource assigned:#NodeConfigSource error:string lastKnownGood:#NodeConfigSource
NodeDaemonEndpoints kubeletEndpoint:#DaemonEndpoint
NodeFeatures supplementalGroupsPolicy:bool
NodeRuntimeHandler features:#NodeRuntimeHandlerFeatures name:string
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:bool userNamespaces:bool
NodeSelector nodeSelectorTerms:[]#NodeSelectorTerm
NodeSelectorRequirement key:string operator:string values:[]string
NodeSelectorTerm matchExpressions:[]#NodeSelectorRequirement matchFields:[]#NodeSelectorRequirement
NodeSpec configSource:#NodeConfigSource externalID:string podCIDR:string podCIDRs:[=]string providerID:string taints:[]#Taint unschedulable:bool
NodeStatus addresses:[type]#NodeAddress allocatable:{}quantity capacity:{}quantity conditions:[type]#NodeCondition config:#NodeConfigStatus daemonEndpoints:#NodeDaemonEndpoints declaredFeatures:[]string features:#NodeFeatures images:[]#ContainerImage nodeInfo:#NodeSystemInfo phase:string runtimeHandlers:[]#NodeRuntimeHandler volumesAttached:[]#AttachedVolume volumesInUse:[]string
NodeSwapStatus capacity:int64
NodeSystemInfo architecture:string bootID:string containerRuntimeVersion:string kernelVersion:string kubeProxyVersion:string kubeletVersion:string machineID:string operatingSystem:string osImage:string swap:#NodeSwapStatus systemUUID:string
ObjectFieldSelector apiVersion:string fieldPath:string
ObjectMeta annotations:{}string creationTimestamp:time deletionGracePeriodSeconds:int64 deletionTimestamp:time finalizers:[=]string generateName:string generation:int64 labels:{}string managedFields:[]#ManagedFieldsEntry name:string namespace:string ownerReferences:[uid]#OwnerReference resourceVersion:string selfLink:string uid:string
ObjectReference apiVersion:string fieldPath:string kind:string name:string namespace:string resourceVersion:string uid:string
OwnerReference apiVersion:string blockOwnerDeletion:bool controller:bool kind:string name:string uid:string
PersistentVolumeClaimSpec accessModes:[]string dataSource:#TypedLocalObjectReference dataSourceRef:#TypedObjectReference resources:#VolumeResourceRequirements selector:#LabelSelector storageClassName:string volumeAttributesClassName:string volumeMode:string volumeName:string
PersistentVolumeClaimTemplate metadata:#ObjectMeta spec:#PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName:string readOnly:bool
PhotonPersistentDiskVolumeSource fsType:string pdID:string
Pod apiVersion:string kind:string metadata:#ObjectMeta spec:#PodSpec status:#PodStatus
PodAffinity preferredDuringSchedulingIgnoredDuringExecution:[]#WeightedPodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution:[]#PodAffinityTerm
PodAffinityTerm labelSelector:#LabelSelector matchLabelKeys:[]string mismatchLabelKeys:[]string namespaceSelector:#LabelSelector namespaces:[]string topologyKey:string
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution:[]#WeightedPodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution:[]#PodAffinityTerm
PodCertificateProjection certificateChainPath:string credentialBundlePath:string keyPath:string keyType:string maxExpirationSeconds:int32 signerName:string userAnnotations:{}string
PodCondition lastProbeTime:time lastTransitionTime:time message:string observedGeneration:int64 reason:string status:string type:string
PodDNSConfig nameservers:[]string options:[]#PodDNSConfigOption searches:[]string
PodDNSConfigOption name:string value:string
PodExtendedResourceClaimStatus requestMappings:[]#ContainerExtendedResourceRequest resourceClaimName:string
PodFailurePolicy rules:[]#PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement containerName:string operator:string values:[]int32
PodFailurePolicyOnPodConditionsPattern status:string type:string
PodFailurePolicyRule action:string onExitCodes:#PodFailurePolicyOnExitCodesRequirement onPodConditions:[]#PodFailurePolicyOnPodConditionsPattern
PodIP ip:string
PodOS name:string
PodReadinessGate conditionType:string
PodResourceClaim name:string resourceClaimName:string resourceClaimTemplateName:string
PodResourceClaimStatus name:string resourceClaimName:string
PodSchedulingGate name:string
PodSchedulingGroup podGroupName:string
PodSecurityContext appArmorProfile:#AppArmorProfile fsGroup:int64 fsGroupChangePolicy:string runAsGroup:int64 runAsNonRoot:bool runAsUser:int64 seLinuxChangePolicy:string seLinuxOptions:#SELinuxOptions seccompProfile:#SeccompProfile supplementalGroups:[]int64 supplementalGroupsPolicy:string sysctls:[]#Sysctl windowsOptions:#WindowsSecurityContextOptions
PodSpec activeDeadlineSeconds:int64 affinity:#Affinity automountServiceAccountToken:bool containers:[name]#Container dnsConfig:#PodDNSConfig dnsPolicy:string enableServiceLinks:bool ephemeralContainers:[name]#EphemeralContainer hostAliases:[ip]#HostAlias hostIPC:bool hostNetwork:bool hostPID:bool hostUsers:bool hostname:string hostnameOverride:string imagePullSecrets:[name]#LocalObjectReference initContainers:[name]#Container nodeName:string nodeSelector:{}string os:#PodOS overhead:{}quantity preemptionPolicy:string priority:int32 priorityClassName:string readinessGates:[]#PodReadinessGate resourceClaims:~[name]#PodResourceClaim resources:#ResourceRequirements restartPolicy:string runtimeClassName:string schedulerName:string schedulingGates:[name]#PodSchedulingGate schedulingGroup:#PodSchedulingGroup securityContext:#PodSecurityContext serviceAccount:string serviceAccountName:string setHostnameAsFQDN:bool shareProcessNamespace:bool subdomain:string terminationGracePeriodSeconds:int64 tolerations:[]#Toleration topologySpreadConstraints:[topologyKey]#TopologySpreadConstraint volumes:~[name]#Volume
PodStatus allocatedResources:{}quantity conditions:[type]#PodCondition containerStatuses:[]#ContainerStatus ephemeralContainerStatuses:[]#ContainerStatus extendedResourceClaimStatus:#PodExtendedResourceClaimStatus hostIP:string hostIPs:[ip]#HostIP initContainerStatuses:[]#ContainerStatus message:string nodeAllocatableResourceClaimStatuses:[]#NodeAllocatableResourceClaimStatus nominatedNodeName:string observedGeneration:int64 phase:string podIP:string podIPs:[ip]#PodIP qosClass:string reason:string resize:string resourceClaimStatuses:~[name]#PodResourceClaimStatus resources:#ResourceRequirements startTime:time
PodTemplateSpec metadata:#ObjectMeta spec:#PodSpec
PortworxVolumeSource fsType:string readOnly:bool volumeID:string
Preconditions resourceVersion:string uid:string
PreferredSchedulingTerm preference:#NodeSelectorTerm weight:int32
Probe exec:#ExecAction failureThreshold:int32 grpc:#GRPCAction httpGet:#HTTPGetAction initialDelaySeconds:int32 periodSeconds:int32 successThreshold:int32 tcpSocket:#TCPSocketAction terminationGracePeriodSeconds:int64 timeoutSeconds:int32
ProjectedVolumeSource defaultMode:int32 sources:[]#VolumeProjection
QuobyteVolumeSource group:string readOnly:bool registry:string tenant:string user:string volume:string
RBDVolumeSource fsType:string image:string keyring:string monitors:[]string pool:string readOnly:bool secretRef:#LocalObjectReference user:string
ResourceClaim name:string request:string
ResourceFieldSelector containerName:string divisor:quantity resource:string
ResourceHealth health:string message:string resourceID:string
ResourceRequirements claims:[]#ResourceClaim limits:{}quantity requests:{}quantity
ResourceStatus name:string resources:[]#ResourceHealth
SELinuxOptions level:string role:string type:string user:string
ScaleIOVolumeSource fsType:string gateway:string protectionDomain:string readOnly:bool secretRef:#LocalObjectReference sslEnabled:bool storageMode:string storagePool:string system:string volumeName:string
SeccompProfile localhostProfile:string type:string
Secret apiVersion:string data:{}bytes immutable:bool kind:string metadata:#ObjectMeta stringData:{}string type:string
SecretEnvSource name:string optional:bool
SecretKeySelector key:string name:string optional:bool
SecretProjection items:[]#KeyToPath name:string optional:bool
SecretVolumeSource defaultMode:int32 items:[]#KeyToPath optional:bool secretName:string
SecurityContext allowPrivilegeEscalation:bool appArmorProfile:#AppArmorProfile capabilities:#Capabilities privileged:bool procMount:string readOnlyRootFilesystem:bool runAsGroup:int64 runAsNonRoot:bool runAsUser:int64 seLinuxOptions:#SELinuxOptions seccompProfile:#SeccompProfile windowsOptions:#WindowsSecurityContextOptions
ServiceAccount apiVersion:string automountServiceAccountToken:bool imagePullSecrets:[]#LocalObjectReference kind:string metadata:#ObjectMeta secrets:[name]#ObjectReference
ServiceAccountTokenProjection audience:string expirationSeconds:int64 path:string
SleepAction seconds:int64
StorageOSVolumeSource fsType:string readOnly:bool secretRef:#LocalObjectReference volumeName:string volumeNamespace:string
SuccessPolicy rules:[]#SuccessPolicyRule
SuccessPolicyRule succeededCount:int32 succeededIndexes:string
Sysctl name:string value:string
TCPSocketAction host:string port:intOrString
Taint effect:string key:string timeAdded:time value:string
Toleration effect:string key:string operator:string tolerationSeconds:int64 value:string
TopologySpreadConstraint labelSelector:#LabelSelector matchLabelKeys:[]string maxSkew:int32 minDomains:int32 nodeAffinityPolicy:string nodeTaintsPolicy:string topologyKey:string whenUnsatisfiable:string
TypedLocalObjectReference apiGroup:string kind:string name:string
TypedObjectReference apiGroup:string kind:string name:string namespace:string
UncountedTerminatedPods failed:[]string succeeded:[]string
Volume awsElasticBlockStore:#AWSElasticBlockStoreVolumeSource azureDisk:#AzureDiskVolumeSource azureFile:#AzureFileVolumeSource cephfs:#CephFSVolumeSource cinder:#CinderVolumeSource configMap:#ConfigMapVolumeSource csi:#CSIVolumeSource downwardAPI:#DownwardAPIVolumeSource emptyDir:#EmptyDirVolumeSource ephemeral:#EphemeralVolumeSource fc:#FCVolumeSource flexVolume:#FlexVolumeSource flocker:#FlockerVolumeSource gcePersistentDisk:#GCEPersistentDiskVolumeSource gitRepo:#GitRepoVolumeSource glusterfs:#GlusterfsVolumeSource hostPath:#HostPathVolumeSource image:#ImageVolumeSource iscsi:#ISCSIVolumeSource name:string nfs:#NFSVolumeSource persistentVolumeClaim:#PersistentVolumeClaimVolumeSource photonPersistentDisk:#PhotonPersistentDiskVolumeSource portworxVolume:#PortworxVolumeSource projected:#ProjectedVolumeSource quobyte:#QuobyteVolumeSource rbd:#RBDVolumeSource scaleIO:#ScaleIOVolumeSource secret:#SecretVolumeSource storageos:#StorageOSVolumeSource vsphereVolume:#VsphereVirtualDiskVolumeSource
VolumeDevice devicePath:string name:string
VolumeMount mountPath:string mountPropagation:string name:string readOnly:bool recursiveReadOnly:string subPath:string subPathExpr:string
VolumeMountStatus mountPath:string name:string readOnly:bool recursiveReadOnly:string volumeStatus:#VolumeStatus
VolumeProjection clusterTrustBundle:#ClusterTrustBundleProjection configMap:#ConfigMapProjection downwardAPI:#DownwardAPIProjection podCertificate:#PodCertificateProjection secret:#SecretProjection serviceAccountToken:#ServiceAccountTokenProjection
VolumeResourceRequirements limits:{}quantity requests:{}quantity
VolumeStatus image:#ImageVolumeStatus
VsphereVirtualDiskVolumeSource fsType:string storagePolicyID:string storagePolicyName:string volumePath:string
WeightedPodAffinityTerm podAffinityTerm:#PodAffinityTerm weight:int32
WindowsSecurityContextOptions gmsaCredentialSpec:string gmsaCredentialSpecName:string hostProcess:bool runAsUserName:string
CustomResourceColumnDefinition description:string format:string jsonPath:string name:string priority:int32 type:string
CustomResourceConversion strategy:string webhook:#WebhookConversion
CustomResourceDefinition apiVersion:string kind:string metadata:#ObjectMeta spec:#CustomResourceDefinitionSpec status:#CustomResourceDefinitionStatus
CustomResourceDefinitionCondition lastTransitionTime:time message:string observedGeneration:int64 reason:string status:string type:string
CustomResourceDefinitionNames categories:[]string kind:string listKind:string plural:string shortNames:[]string singular:string
CustomResourceDefinitionSpec conversion:#CustomResourceConversion group:string names:#CustomResourceDefinitionNames preserveUnknownFields:bool scope:string versions:[]#CustomResourceDefinitionVersion
CustomResourceDefinitionStatus acceptedNames:#CustomResourceDefinitionNames conditions:[]#CustomResourceDefinitionCondition observedGeneration:int64 storedVersions:[]string
CustomResourceDefinitionVersion additionalPrinterColumns:[]#CustomResourceColumnDefinition deprecated:bool deprecationWarning:string name:string schema:#CustomResourceValidation selectableFields:[]#SelectableField served:bool storage:bool subresources:#CustomResourceSubresources
CustomResourceSubresourceScale labelSelectorPath:string specReplicasPath:string statusReplicasPath:string
CustomResourceSubresources scale:#CustomResourceSubresourceScale status:any
CustomResourceValidation openAPIV3Schema:#JSONSchemaProps
ExternalDocumentation description:string url:string
JSONSchemaProps $ref:string $schema:string additionalItems:any additionalProperties:any allOf:[]#JSONSchemaProps anyOf:[]#JSONSchemaProps default:any definitions:{}#JSONSchemaProps dependencies:{}any description:string enum:[]any example:any exclusiveMaximum:bool exclusiveMinimum:bool externalDocs:#ExternalDocumentation format:string id:string items:any maxItems:int64 maxLength:int64 maxProperties:int64 maximum:number minItems:int64 minLength:int64 minProperties:int64 minimum:number multipleOf:number not:#JSONSchemaProps nullable:bool oneOf:[]#JSONSchemaProps pattern:string patternProperties:{}#JSONSchemaProps properties:{}#JSONSchemaProps required:[]string title:string type:string uniqueItems:bool x-kubernetes-embedded-resource:bool x-kubernetes-int-or-string:bool x-kubernetes-list-map-keys:[]string x-kubernetes-list-type:string x-kubernetes-map-type:string x-kubernetes-preserve-unknown-fields:bool x-kubernetes-validations:[rule]#ValidationRule
SelectableField jsonPath:string
ServiceReference name:string namespace:string path:string port:int32
ValidationRule fieldPath:string message:string messageExpression:string optionalOldSelf:bool reason:string rule:string
WebhookClientConfig caBundle:bytes service:#ServiceReference url:string
WebhookConversion clientConfig:#WebhookClientConfig conversionReviewVersions:[]string
`;
