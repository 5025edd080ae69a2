/**
 * The fields of the built-in kinds of Kubernetes 1.36 that the sandbox serves, one kind per line: `name=NUMBER:TYPE`. The number
 * is the field's in the protobuf encoding (`2.19`: field 19 of the message in field 2, which JSON does not nest). A type is a
 * scalar name, `#Kind`, `{}T` for a map, `[]T` for a list that a patch replaces, `[key]T` for one that a strategic patch merges by
 * `key` (`[=]T`: by value), with `~` in front where the patch may name the keys to retain. At the end `!` marks a field that is
 * always there, `?` one whose zero differs from its absence; others are left out when they are zero or empty.
 */
export const BUILT_IN_KINDS = `
AWSElasticBlockStoreVolumeSource fsType=2:string partition=3:int32 readOnly=4:bool volumeID=1:string!
Affinity nodeAffinity=1:#NodeAffinity? podAffinity=2:#PodAffinity? podAntiAffinity=3:#PodAntiAffinity?
AppArmorProfile localhostProfile=2:string? type=1:string!
AttachedVolume devicePath=2:string! name=1:string!
AzureDiskVolumeSource cachingMode=3:string? diskName=1:string! diskURI=2:string! fsType=4:string? kind=6:string? readOnly=5:bool?
AzureFileVolumeSource readOnly=3:bool secretName=1:string! shareName=2:string!
Binding apiVersion:string kind:string metadata=1:#ObjectMeta! target=2:#ObjectReference!
CSIVolumeSource driver=1:string! fsType=3:string? nodePublishSecretRef=5:#LocalObjectReference? readOnly=2:bool? volumeAttributes=4:{}string
Capabilities add=1:[]string drop=2:[]string
CephFSVolumeSource monitors=1:[]string! path=2:string readOnly=6:bool secretFile=4:string secretRef=5:#LocalObjectReference? user=3:string
CinderVolumeSource fsType=2:string readOnly=3:bool secretRef=4:#LocalObjectReference? volumeID=1:string!
ClusterTrustBundleProjection labelSelector=3:#LabelSelector? name=1:string? optional=5:bool? path=4:string! signerName=2:string?
ConfigMap apiVersion:string binaryData=3:{}bytes data=2:{}string immutable=4:bool? kind:string metadata=1:#ObjectMeta!
ConfigMapEnvSource name=1.1:string optional=2:bool?
ConfigMapKeySelector key=2:string! name=1.1:string optional=3:bool?
ConfigMapNodeConfigSource kubeletConfigKey=5:string! name=2:string! namespace=1:string! resourceVersion=4:string uid=3:string
ConfigMapProjection items=2:[]#KeyToPath name=1.1:string optional=4:bool?
ConfigMapVolumeSource defaultMode=3:int32? items=2:[]#KeyToPath name=1.1:string optional=4:bool?
Container args=4:[]string command=3:[]string env=7:[name]#EnvVar envFrom=19:[]#EnvFromSource image=2:string imagePullPolicy=14:string lifecycle=12:#Lifecycle? livenessProbe=10:#Probe? name=1:string! ports=6:[containerPort]#ContainerPort readinessProbe=11:#Probe? resizePolicy=23:[]#ContainerResizePolicy resources=8:#ResourceRequirements! restartPolicy=24:string? restartPolicyRules=25:[]#ContainerRestartRule securityContext=15:#SecurityContext? startupProbe=22:#Probe? stdin=16:bool stdinOnce=17:bool terminationMessagePath=13:string terminationMessagePolicy=20:string tty=18:bool volumeDevices=21:[devicePath]#VolumeDevice volumeMounts=9:[mountPath]#VolumeMount workingDir=5:string
ContainerExtendedResourceRequest containerName=1:string! requestName=3:string! resourceName=2:string!
ContainerImage names=1:[]string! sizeBytes=2:int64
ContainerPort containerPort=3:int32! hostIP=5:string hostPort=2:int32 name=1:string protocol=4:string
ContainerResizePolicy resourceName=1:string! restartPolicy=2:string!
ContainerRestartRule action=1:string exitCodes=2:#ContainerRestartRuleOnExitCodes?
ContainerRestartRuleOnExitCodes operator=1:string values=2:[]int32
ContainerState running=2:#ContainerStateRunning? terminated=3:#ContainerStateTerminated? waiting=1:#ContainerStateWaiting?
ContainerStateRunning startedAt=1:time
ContainerStateTerminated containerID=7:string exitCode=1:int32! finishedAt=6:time message=4:string reason=3:string signal=2:int32 startedAt=5:time
ContainerStateWaiting message=2:string reason=1:string
ContainerStatus allocatedResources=10:{}quantity allocatedResourcesStatus=14:[name]#ResourceStatus containerID=8:string image=6:string! imageID=7:string! lastState=3:#ContainerState! name=1:string! ready=4:bool! resources=11:#ResourceRequirements? restartCount=5:int32! started=9:bool? state=2:#ContainerState! stopSignal=15:string? user=13:#ContainerUser? volumeMounts=12:[mountPath]#VolumeMountStatus
ContainerUser linux=1:#LinuxContainerUser?
CronJob apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#CronJobSpec! status=3:#CronJobStatus!
CronJobSpec concurrencyPolicy=3:string failedJobsHistoryLimit=7:int32? jobTemplate=5:#JobTemplateSpec! schedule=1:string! startingDeadlineSeconds=2:int64? successfulJobsHistoryLimit=6:int32? suspend=4:bool? timeZone=8:string?
CronJobStatus active=1:[]#ObjectReference lastScheduleTime=4:time? lastSuccessfulTime=5:time?
DaemonEndpoint Port=1:int32!
DeleteOptions apiVersion:string dryRun=5:[]string gracePeriodSeconds=1:int64? ignoreStoreReadErrorWithClusterBreakingPotential=6:bool? kind:string orphanDependents=3:bool? preconditions=2:#Preconditions? propagationPolicy=4:string?
DownwardAPIProjection items=1:[]#DownwardAPIVolumeFile
DownwardAPIVolumeFile fieldRef=2:#ObjectFieldSelector? mode=4:int32? path=1:string! resourceFieldRef=3:#ResourceFieldSelector?
DownwardAPIVolumeSource defaultMode=2:int32? items=1:[]#DownwardAPIVolumeFile
EmptyDirVolumeSource medium=1:string sizeLimit=2:quantity?
EnvFromSource configMapRef=2:#ConfigMapEnvSource? prefix=1:string secretRef=3:#SecretEnvSource?
EnvVar name=1:string! value=2:string valueFrom=3:#EnvVarSource?
EnvVarSource configMapKeyRef=3:#ConfigMapKeySelector? fieldRef=1:#ObjectFieldSelector? fileKeyRef=5:#FileKeySelector? resourceFieldRef=2:#ResourceFieldSelector? secretKeyRef=4:#SecretKeySelector?
EphemeralContainer args=1.4:[]string command=1.3:[]string env=1.7:[name]#EnvVar envFrom=1.19:[]#EnvFromSource image=1.2:string imagePullPolicy=1.14:string lifecycle=1.12:#Lifecycle? livenessProbe=1.10:#Probe? name=1.1:string! ports=1.6:[containerPort]#ContainerPort readinessProbe=1.11:#Probe? resizePolicy=1.23:[]#ContainerResizePolicy resources=1.8:#ResourceRequirements! restartPolicy=1.24:string? restartPolicyRules=1.25:[]#ContainerRestartRule securityContext=1.15:#SecurityContext? startupProbe=1.22:#Probe? stdin=1.16:bool stdinOnce=1.17:bool targetContainerName=2:string terminationMessagePath=1.13:string terminationMessagePolicy=1.20:string tty=1.18:bool volumeDevices=1.21:[devicePath]#VolumeDevice volumeMounts=1.9:[mountPath]#VolumeMount workingDir=1.5:string
EphemeralVolumeSource volumeClaimTemplate=1:#PersistentVolumeClaimTemplate?
Event action=12:string apiVersion:string count=8:int32 eventTime=10:micro firstTimestamp=6:time involvedObject=2:#ObjectReference! kind:string lastTimestamp=7:time message=4:string metadata=1:#ObjectMeta! reason=3:string related=13:#ObjectReference? reportingComponent=14:string! reportingInstance=15:string! series=11:#EventSeries? source=5:#EventSource! type=9:string
EventSeries count=1:int32 lastObservedTime=2:micro
EventSource component=1:string host=2:string
Eviction apiVersion:string deleteOptions=2:#DeleteOptions? kind:string metadata=1:#ObjectMeta!
ExecAction command=1:[]string
FCVolumeSource fsType=3:string lun=2:int32? readOnly=4:bool targetWWNs=1:[]string wwids=5:[]string
FileKeySelector key=3:string! optional=4:bool? path=2:string! volumeName=1:string!
FlexVolumeSource driver=1:string! fsType=2:string options=5:{}string readOnly=4:bool secretRef=3:#LocalObjectReference?
FlockerVolumeSource datasetName=1:string datasetUUID=2:string
GCEPersistentDiskVolumeSource fsType=2:string partition=3:int32 pdName=1:string! readOnly=4:bool
GRPCAction port=1:int32! service=2:string?
GitRepoVolumeSource directory=3:string repository=1:string! revision=2:string
GlusterfsVolumeSource endpoints=1:string! path=2:string! readOnly=3:bool
HTTPGetAction host=3:string httpHeaders=5:[]#HTTPHeader path=1:string port=2:intOrString! scheme=4:string
HTTPHeader name=1:string! value=2:string!
HostAlias hostnames=2:[]string ip=1:string!
HostIP ip=1:string!
HostPathVolumeSource path=1:string! type=2:string?
ISCSIVolumeSource chapAuthDiscovery=8:bool chapAuthSession=11:bool fsType=5:string initiatorName=12:string? iqn=2:string! iscsiInterface=4:string lun=3:int32! portals=7:[]string readOnly=6:bool secretRef=10:#LocalObjectReference? targetPortal=1:string!
ImageVolumeSource pullPolicy=2:string reference=1:string
ImageVolumeStatus imageRef=1:string
Job apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#JobSpec! status=3:#JobStatus!
JobCondition lastProbeTime=3:time lastTransitionTime=4:time message=6:string reason=5:string status=2:string! type=1:string!
JobSpec activeDeadlineSeconds=3:int64? backoffLimit=7:int32? backoffLimitPerIndex=12:int32? completionMode=9:string? completions=2:int32? managedBy=15:string? manualSelector=5:bool? maxFailedIndexes=13:int32? parallelism=1:int32? podFailurePolicy=11:#PodFailurePolicy? podReplacementPolicy=14:string? selector=4:#LabelSelector? successPolicy=16:#SuccessPolicy? suspend=10:bool? template=6:#PodTemplateSpec! ttlSecondsAfterFinished=8:int32?
JobStatus active=4:int32 completedIndexes=7:string completionTime=3:time? conditions=1:[type]#JobCondition failed=6:int32 failedIndexes=10:string? ready=9:int32? startTime=2:time? succeeded=5:int32 terminating=11:int32? uncountedTerminatedPods=8:#UncountedTerminatedPods?
JobTemplateSpec metadata=1:#ObjectMeta! spec=2:#JobSpec!
KeyToPath key=1:string! mode=3:int32? path=2:string!
LabelSelector matchExpressions=2:[]#LabelSelectorRequirement matchLabels=1:{}string
LabelSelectorRequirement key=1:string! operator=2:string! values=3:[]string
Lease apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#LeaseSpec!
LeaseSpec acquireTime=3:micro? holderIdentity=1:string? leaseDurationSeconds=2:int32? leaseTransitions=5:int32? preferredHolder=7:string? renewTime=4:micro? strategy=6:string?
Lifecycle postStart=1:#LifecycleHandler? preStop=2:#LifecycleHandler? stopSignal=3:string?
LifecycleHandler exec=1:#ExecAction? httpGet=2:#HTTPGetAction? sleep=4:#SleepAction? tcpSocket=3:#TCPSocketAction?
LinuxContainerUser gid=2:int64! supplementalGroups=3:[]int64 uid=1:int64!
LocalObjectReference name=1:string
ManagedFieldsEntry apiVersion=3:string fieldsType=6:string fieldsV1=7:any? manager=1:string operation=2:string subresource=8:string time=4:time?
NFSVolumeSource path=2:string! readOnly=3:bool server=1:string!
Namespace apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#NamespaceSpec! status=3:#NamespaceStatus!
NamespaceCondition lastTransitionTime=4:time message=6:string reason=5:string status=2:string! type=1:string!
NamespaceSpec finalizers=1:[]string
NamespaceStatus conditions=2:[type]#NamespaceCondition phase=1:string
Node apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#NodeSpec! status=3:#NodeStatus!
NodeAddress address=2:string! type=1:string!
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution=2:[]#PreferredSchedulingTerm requiredDuringSchedulingIgnoredDuringExecution=1:#NodeSelector?
NodeAllocatableResourceClaimStatus containers=2:[]string resourceClaimName=1:string! resources=3:{}quantity!
NodeCondition lastHeartbeatTime=3:time lastTransitionTime=4:time message=6:string reason=5:string status=2:string! type=1:string!
NodeConfigSource configMap=2:#ConfigMapNodeConfigSource?
NodeConfigStatus active=2:#NodeConfigSource? assigned=1:#NodeConfigSource? error=4:string lastKnownGood=3:#NodeConfigSource?
NodeDaemonEndpoints kubeletEndpoint=1:#DaemonEndpoint!
NodeFeatures supplementalGroupsPolicy=1:bool?
NodeRuntimeHandler features=2:#NodeRuntimeHandlerFeatures? name=1:string!
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts=1:bool? userNamespaces=2:bool?
NodeSelector nodeSelectorTerms=1:[]#NodeSelectorTerm!
NodeSelectorRequirement key=1:string! operator=2:string! values=3:[]string
NodeSelectorTerm matchExpressions=1:[]#NodeSelectorRequirement matchFields=2:[]#NodeSelectorRequirement
NodeSpec configSource=6:#NodeConfigSource? externalID=2:string podCIDR=1:string podCIDRs=7:[=]string providerID=3:string taints=5:[]#Taint unschedulable=4:bool
NodeStatus addresses=5:[type]#NodeAddress allocatable=2:{}quantity capacity=1:{}quantity conditions=4:[type]#NodeCondition config=11:#NodeConfigStatus? daemonEndpoints=6:#NodeDaemonEndpoints! declaredFeatures=14:[]string features=13:#NodeFeatures? images=8:[]#ContainerImage nodeInfo=7:#NodeSystemInfo! phase=3:string runtimeHandlers=12:[]#NodeRuntimeHandler volumesAttached=10:[]#AttachedVolume volumesInUse=9:[]string
NodeSwapStatus capacity=1:int64?
NodeSystemInfo architecture=10:string! bootID=3:string! containerRuntimeVersion=6:string! kernelVersion=4:string! kubeProxyVersion=8:string! kubeletVersion=7:string! machineID=1:string! operatingSystem=9:string! osImage=5:string! swap=11:#NodeSwapStatus? systemUUID=2:string!
ObjectFieldSelector apiVersion=1:string fieldPath=2:string!
ObjectMeta annotations=12:{}string creationTimestamp=8:time deletionGracePeriodSeconds=10:int64? deletionTimestamp=9:time? finalizers=14:[=]string generateName=2:string generation=7:int64 labels=11:{}string managedFields=17:[]#ManagedFieldsEntry name=1:string namespace=3:string ownerReferences=13:[uid]#OwnerReference resourceVersion=6:string selfLink=4:string uid=5:string
ObjectReference apiVersion=5:string fieldPath=7:string kind=1:string name=3:string namespace=2:string resourceVersion=6:string uid=4:string
OwnerReference apiVersion=5:string! blockOwnerDeletion=7:bool? controller=6:bool? kind=1:string! name=3:string! uid=4:string!
PersistentVolumeClaimSpec accessModes=1:[]string dataSource=7:#TypedLocalObjectReference? dataSourceRef=8:#TypedObjectReference? resources=2:#VolumeResourceRequirements! selector=4:#LabelSelector? storageClassName=5:string? volumeAttributesClassName=9:string? volumeMode=6:string? volumeName=3:string
PersistentVolumeClaimTemplate metadata=1:#ObjectMeta! spec=2:#PersistentVolumeClaimSpec!
PersistentVolumeClaimVolumeSource claimName=1:string! readOnly=2:bool
PhotonPersistentDiskVolumeSource fsType=2:string pdID=1:string!
Pod apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#PodSpec! status=3:#PodStatus!
PodAffinity preferredDuringSchedulingIgnoredDuringExecution=2:[]#WeightedPodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution=1:[]#PodAffinityTerm
PodAffinityTerm labelSelector=1:#LabelSelector? matchLabelKeys=5:[]string mismatchLabelKeys=6:[]string namespaceSelector=4:#LabelSelector? namespaces=2:[]string topologyKey=3:string!
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution=2:[]#WeightedPodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution=1:[]#PodAffinityTerm
PodCertificateProjection certificateChainPath=6:string credentialBundlePath=4:string keyPath=5:string keyType=2:string maxExpirationSeconds=3:int32? signerName=1:string userAnnotations=7:{}string
PodCondition lastProbeTime=3:time lastTransitionTime=4:time message=6:string observedGeneration=7:int64 reason=5:string status=2:string! type=1:string!
PodDNSConfig nameservers=1:[]string options=3:[]#PodDNSConfigOption searches=2:[]string
PodDNSConfigOption name=1:string value=2:string?
PodExtendedResourceClaimStatus requestMappings=1:[]#ContainerExtendedResourceRequest! resourceClaimName=2:string!
PodFailurePolicy rules=1:[]#PodFailurePolicyRule!
PodFailurePolicyOnExitCodesRequirement containerName=1:string? operator=2:string! values=3:[]int32!
PodFailurePolicyOnPodConditionsPattern status=2:string! type=1:string!
PodFailurePolicyRule action=1:string! onExitCodes=2:#PodFailurePolicyOnExitCodesRequirement? onPodConditions=3:[]#PodFailurePolicyOnPodConditionsPattern
PodIP ip=1:string!
PodOS name=1:string!
PodReadinessGate conditionType=1:string!
PodResourceClaim name=1:string! resourceClaimName=3:string? resourceClaimTemplateName=4:string?
PodResourceClaimStatus name=1:string! resourceClaimName=2:string?
PodSchedulingGate name=1:string!
PodSchedulingGroup podGroupName=1:string?
PodSecurityContext appArmorProfile=11:#AppArmorProfile? fsGroup=5:int64? fsGroupChangePolicy=9:string? runAsGroup=6:int64? runAsNonRoot=3:bool? runAsUser=2:int64? seLinuxChangePolicy=13:string? seLinuxOptions=1:#SELinuxOptions? seccompProfile=10:#SeccompProfile? supplementalGroups=4:[]int64 supplementalGroupsPolicy=12:string? sysctls=7:[]#Sysctl windowsOptions=8:#WindowsSecurityContextOptions?
PodSpec activeDeadlineSeconds=5:int64? affinity=18:#Affinity? automountServiceAccountToken=21:bool? containers=2:[name]#Container! dnsConfig=26:#PodDNSConfig? dnsPolicy=6:string enableServiceLinks=30:bool? ephemeralContainers=34:[name]#EphemeralContainer hostAliases=23:[ip]#HostAlias hostIPC=13:bool hostNetwork=11:bool hostPID=12:bool hostUsers=37:bool? hostname=16:string hostnameOverride=41:string? imagePullSecrets=15:[name]#LocalObjectReference initContainers=20:[name]#Container nodeName=10:string nodeSelector=7:{}string os=36:#PodOS? overhead=32:{}quantity preemptionPolicy=31:string? priority=25:int32? priorityClassName=24:string readinessGates=28:[]#PodReadinessGate resourceClaims=39:~[name]#PodResourceClaim resources=40:#ResourceRequirements? restartPolicy=3:string runtimeClassName=29:string? schedulerName=19:string schedulingGates=38:[name]#PodSchedulingGate schedulingGroup=43:#PodSchedulingGroup? securityContext=14:#PodSecurityContext? serviceAccount=9:string serviceAccountName=8:string setHostnameAsFQDN=35:bool? shareProcessNamespace=27:bool? subdomain=17:string terminationGracePeriodSeconds=4:int64? tolerations=22:[]#Toleration topologySpreadConstraints=33:[topologyKey]#TopologySpreadConstraint volumes=1:~[name]#Volume
PodStatus allocatedResources=19:{}quantity conditions=2:[type]#PodCondition containerStatuses=8:[]#ContainerStatus ephemeralContainerStatuses=13:[]#ContainerStatus extendedResourceClaimStatus=18:#PodExtendedResourceClaimStatus? hostIP=5:string hostIPs=16:[ip]#HostIP initContainerStatuses=10:[]#ContainerStatus message=3:string nodeAllocatableResourceClaimStatuses=21:[]#NodeAllocatableResourceClaimStatus nominatedNodeName=11:string observedGeneration=17:int64 phase=1:string podIP=6:string podIPs=12:[ip]#PodIP qosClass=9:string reason=4:string resize=14:string resourceClaimStatuses=15:~[name]#PodResourceClaimStatus resources=20:#ResourceRequirements? startTime=7:time?
PodTemplateSpec metadata=1:#ObjectMeta! spec=2:#PodSpec!
PortworxVolumeSource fsType=2:string readOnly=3:bool volumeID=1:string!
Preconditions resourceVersion=2:string? uid=1:string?
PreferredSchedulingTerm preference=2:#NodeSelectorTerm! weight=1:int32!
Probe exec=1.1:#ExecAction? failureThreshold=6:int32 grpc=1.4:#GRPCAction? httpGet=1.2:#HTTPGetAction? initialDelaySeconds=2:int32 periodSeconds=4:int32 successThreshold=5:int32 tcpSocket=1.3:#TCPSocketAction? terminationGracePeriodSeconds=7:int64? timeoutSeconds=3:int32
ProjectedVolumeSource defaultMode=2:int32? sources=1:[]#VolumeProjection!
QuobyteVolumeSource group=5:string readOnly=3:bool registry=1:string! tenant=6:string user=4:string volume=2:string!
RBDVolumeSource fsType=3:string image=2:string! keyring=6:string monitors=1:[]string! pool=4:string readOnly=8:bool secretRef=7:#LocalObjectReference? user=5:string
ResourceClaim name=1:string! request=2:string
ResourceFieldSelector containerName=1:string divisor=3:quantity! resource=2:string!
ResourceHealth health=2:string message=6:string? resourceID=1:string!
ResourceRequirements claims=3:[]#ResourceClaim limits=1:{}quantity requests=2:{}quantity
ResourceStatus name=1:string! resources=2:[]#ResourceHealth
SELinuxOptions level=4:string role=2:string type=3:string user=1:string
ScaleIOVolumeSource fsType=9:string gateway=1:string! protectionDomain=5:string readOnly=10:bool secretRef=3:#LocalObjectReference? sslEnabled=4:bool storageMode=7:string storagePool=6:string system=2:string! volumeName=8:string
SeccompProfile localhostProfile=2:string? type=1:string!
Secret apiVersion:string data=2:{}bytes immutable=5:bool? kind:string metadata=1:#ObjectMeta! stringData=4:{}string type=3:string
SecretEnvSource name=1.1:string optional=2:bool?
SecretKeySelector key=2:string! name=1.1:string optional=3:bool?
SecretProjection items=2:[]#KeyToPath name=1.1:string optional=4:bool?
SecretVolumeSource defaultMode=3:int32? items=2:[]#KeyToPath optional=4:bool? secretName=1:string
SecurityContext allowPrivilegeEscalation=7:bool? appArmorProfile=12:#AppArmorProfile? capabilities=1:#Capabilities? privileged=2:bool? procMount=9:string? readOnlyRootFilesystem=6:bool? runAsGroup=8:int64? runAsNonRoot=5:bool? runAsUser=4:int64? seLinuxOptions=3:#SELinuxOptions? seccompProfile=11:#SeccompProfile? windowsOptions=10:#WindowsSecurityContextOptions?
ServiceAccount apiVersion:string automountServiceAccountToken=4:bool? imagePullSecrets=3:[]#LocalObjectReference kind:string metadata=1:#ObjectMeta! secrets=2:[name]#ObjectReference
ServiceAccountTokenProjection audience=1:string expirationSeconds=2:int64? path=3:string!
SleepAction seconds=1:int64!
StorageOSVolumeSource fsType=3:string readOnly=4:bool secretRef=5:#LocalObjectReference? volumeName=1:string volumeNamespace=2:string
SuccessPolicy rules=1:[]#SuccessPolicyRule!
SuccessPolicyRule succeededCount=2:int32? succeededIndexes=1:string?
Sysctl name=1:string! value=2:string!
TCPSocketAction host=2:string port=1:intOrString!
Taint effect=3:string! key=1:string! timeAdded=4:time? value=2:string
Toleration effect=4:string key=1:string operator=2:string tolerationSeconds=5:int64? value=3:string
TopologySpreadConstraint labelSelector=4:#LabelSelector? matchLabelKeys=8:[]string maxSkew=1:int32! minDomains=5:int32? nodeAffinityPolicy=6:string? nodeTaintsPolicy=7:string? topologyKey=2:string! whenUnsatisfiable=3:string!
TypedLocalObjectReference apiGroup=1:string? kind=2:string! name=3:string!
TypedObjectReference apiGroup=1:string? kind=2:string! name=3:string! namespace=4:string?
UncountedTerminatedPods failed=2:[]string succeeded=1:[]string
Volume awsElasticBlockStore=2.4:#AWSElasticBlockStoreVolumeSource? azureDisk=2.22:#AzureDiskVolumeSource? azureFile=2.18:#AzureFileVolumeSource? cephfs=2.14:#CephFSVolumeSource? cinder=2.13:#CinderVolumeSource? configMap=2.19:#ConfigMapVolumeSource? csi=2.28:#CSIVolumeSource? downwardAPI=2.16:#DownwardAPIVolumeSource? emptyDir=2.2:#EmptyDirVolumeSource? ephemeral=2.29:#EphemeralVolumeSource? fc=2.17:#FCVolumeSource? flexVolume=2.12:#FlexVolumeSource? flocker=2.15:#FlockerVolumeSource? gcePersistentDisk=2.3:#GCEPersistentDiskVolumeSource? gitRepo=2.5:#GitRepoVolumeSource? glusterfs=2.9:#GlusterfsVolumeSource? hostPath=2.1:#HostPathVolumeSource? image=2.30:#ImageVolumeSource? iscsi=2.8:#ISCSIVolumeSource? name=1:string! nfs=2.7:#NFSVolumeSource? persistentVolumeClaim=2.10:#PersistentVolumeClaimVolumeSource? photonPersistentDisk=2.23:#PhotonPersistentDiskVolumeSource? portworxVolume=2.24:#PortworxVolumeSource? projected=2.26:#ProjectedVolumeSource? quobyte=2.21:#QuobyteVolumeSource? rbd=2.11:#RBDVolumeSource? scaleIO=2.25:#ScaleIOVolumeSource? secret=2.6:#SecretVolumeSource? storageos=2.27:#StorageOSVolumeSource? vsphereVolume=2.20:#VsphereVirtualDiskVolumeSource?
VolumeDevice devicePath=2:string! name=1:string!
VolumeMount mountPath=3:string! mountPropagation=5:string? name=1:string! readOnly=2:bool recursiveReadOnly=7:string? subPath=4:string subPathExpr=6:string
VolumeMountStatus mountPath=2:string! name=1:string! readOnly=3:bool recursiveReadOnly=4:string? volumeStatus=5:#VolumeStatus?
VolumeProjection clusterTrustBundle=5:#ClusterTrustBundleProjection? configMap=3:#ConfigMapProjection? downwardAPI=2:#DownwardAPIProjection? podCertificate=6:#PodCertificateProjection? secret=1:#SecretProjection? serviceAccountToken=4:#ServiceAccountTokenProjection?
VolumeResourceRequirements limits=1:{}quantity requests=2:{}quantity
VolumeStatus image=1:#ImageVolumeStatus?
VsphereVirtualDiskVolumeSource fsType=2:string storagePolicyID=4:string storagePolicyName=3:string volumePath=1:string!
WeightedPodAffinityTerm podAffinityTerm=2:#PodAffinityTerm! weight=1:int32!
WindowsSecurityContextOptions gmsaCredentialSpec=2:string? gmsaCredentialSpecName=1:string? hostProcess=4:bool? runAsUserName=3:string?
CustomResourceColumnDefinition description=4:string format=3:string jsonPath=6:string! name=1:string! priority=5:int32 type=2:string!
CustomResourceConversion strategy=1:string! webhook=2:#WebhookConversion?
CustomResourceDefinition apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#CustomResourceDefinitionSpec! status=3:#CustomResourceDefinitionStatus!
CustomResourceDefinitionCondition lastTransitionTime=3:time message=5:string observedGeneration=6:int64 reason=4:string status=2:string! type=1:string!
CustomResourceDefinitionNames categories=6:[]string kind=4:string! listKind=5:string plural=1:string! shortNames=3:[]string singular=2:string
CustomResourceDefinitionSpec conversion=9:#CustomResourceConversion? group=1:string! names=3:#CustomResourceDefinitionNames! preserveUnknownFields=10:bool scope=4:string! versions=7:[]#CustomResourceDefinitionVersion!
CustomResourceDefinitionStatus acceptedNames=2:#CustomResourceDefinitionNames! conditions=1:[]#CustomResourceDefinitionCondition! observedGeneration=4:int64 storedVersions=3:[]string!
CustomResourceDefinitionVersion additionalPrinterColumns=6:[]#CustomResourceColumnDefinition deprecated=7:bool deprecationWarning=8:string? name=1:string! schema=4:#CustomResourceValidation? selectableFields=9:[]#SelectableField served=2:bool! storage=3:bool! subresources=5:#CustomResourceSubresources?
CustomResourceSubresourceScale labelSelectorPath=3:string? specReplicasPath=1:string! statusReplicasPath=2:string!
CustomResourceSubresources scale=2:#CustomResourceSubresourceScale? status=1:any?
CustomResourceValidation openAPIV3Schema=1:#JSONSchemaProps?
ExternalDocumentation description=1:string url=2:string
JSONSchemaProps $ref:string? $schema:string additionalItems=33:any? additionalProperties=30:any? allOf=25:[]#JSONSchemaProps anyOf=27:[]#JSONSchemaProps default=8:any? definitions=34:{}#JSONSchemaProps dependencies=32:{}any description=4:string enum=20:[]any example=36:any? exclusiveMaximum=10:bool exclusiveMinimum=12:bool externalDocs=35:#ExternalDocumentation? format=6:string id=1:string items=24:any? maxItems=16:int64? maxLength=13:int64? maxProperties=21:int64? maximum=9:number? minItems=17:int64? minLength=14:int64? minProperties=22:int64? minimum=11:number? multipleOf=19:number? not=28:#JSONSchemaProps? nullable=37:bool oneOf=26:[]#JSONSchemaProps pattern=15:string patternProperties=31:{}#JSONSchemaProps properties=29:{}#JSONSchemaProps required=23:[]string title=7:string type=5:string uniqueItems=18:bool x-kubernetes-embedded-resource:bool x-kubernetes-int-or-string:bool x-kubernetes-list-map-keys:[]string x-kubernetes-list-type:string? x-kubernetes-map-type:string? x-kubernetes-preserve-unknown-fields:bool? x-kubernetes-validations:[rule]#ValidationRule
SelectableField jsonPath=1:string!
ServiceReference name=2:string! namespace=1:string! path=3:string? port=4:int32?
ValidationRule fieldPath=5:string message=2:string messageExpression=3:string optionalOldSelf=6:bool? reason=4:string? rule=1:string!
WebhookClientConfig caBundle=2:bytes service=1:#ServiceReference? url=3:string?
WebhookConversion clientConfig=2:#WebhookClientConfig? conversionReviewVersions=3:[]string!
ApplyConfiguration expression=1:string
JSONPatch expression=1:string
MatchCondition expression=2:string! name=1:string!
MatchResources excludeResourceRules=4:[]#NamedRuleWithOperations matchPolicy=7:string? namespaceSelector=1:#LabelSelector? objectSelector=2:#LabelSelector? resourceRules=3:[]#NamedRuleWithOperations
MutatingAdmissionPolicy apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#MutatingAdmissionPolicySpec!
MutatingAdmissionPolicyBinding apiVersion:string kind:string metadata=1:#ObjectMeta! spec=2:#MutatingAdmissionPolicyBindingSpec!
MutatingAdmissionPolicyBindingSpec matchResources=3:#MatchResources? paramRef=2:#ParamRef? policyName=1:string
MutatingAdmissionPolicySpec failurePolicy=5:string? matchConditions=6:[name]#MatchCondition matchConstraints=2:#MatchResources? mutations=4:[]#Mutation paramKind=1:#ParamKind? reinvocationPolicy=7:string variables=3:[]#Variable
Mutation applyConfiguration=3:#ApplyConfiguration? jsonPatch=4:#JSONPatch? patchType=2:string!
NamedRuleWithOperations apiGroups=2.2.1:[]string apiVersions=2.2.2:[]string operations=2.1:[]string resourceNames=1:[]string resources=2.2.3:[]string scope=2.2.4:string?
ParamKind apiVersion=1:string kind=2:string
ParamRef name=1:string namespace=2:string parameterNotFoundAction=4:string? selector=3:#LabelSelector?
Variable expression=2:string! name=1:string!
`;
