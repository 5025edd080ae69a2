/** The pod spec around its containers and volumes, in the notation of `notation.ts`. */
export const POD_SPEC_TYPES = {
  PodSpec: `
    volumes:Volume[] initContainers:Container[] containers:Container[]! ephemeralContainers:EphemeralContainer[]
    restartPolicy terminationGracePeriodSeconds:int64? activeDeadlineSeconds:int64? dnsPolicy nodeSelector:string{}
    serviceAccountName serviceAccount automountServiceAccountToken:bool? nodeName hostNetwork:bool hostPID:bool
    hostIPC:bool shareProcessNamespace:bool? securityContext:PodSecurityContext?
    imagePullSecrets:LocalObjectReference[] hostname subdomain affinity:Affinity? schedulerName
    tolerations:Toleration[] hostAliases:HostAlias[] priorityClassName priority:int32? dnsConfig:PodDNSConfig?
    readinessGates:PodReadinessGate[] runtimeClassName? enableServiceLinks:bool? preemptionPolicy?
    overhead:quantity{} topologySpreadConstraints:TopologySpreadConstraint[] setHostnameAsFQDN:bool? os:PodOS?
    hostUsers:bool? schedulingGates:PodSchedulingGate[] resourceClaims:PodResourceClaim[]
    resources:ResourceRequirements? hostnameOverride? schedulingGroup:PodSchedulingGroup?`,
  PodSecurityContext: `
    seLinuxOptions:SELinuxOptions? windowsOptions:WindowsSecurityContextOptions? runAsUser:int64? runAsGroup:int64?
    runAsNonRoot:bool? supplementalGroups:int64[] supplementalGroupsPolicy? fsGroup:int64? sysctls:Sysctl[]
    fsGroupChangePolicy? seccompProfile:SeccompProfile? appArmorProfile:AppArmorProfile? seLinuxChangePolicy?`,
  Affinity: "nodeAffinity:NodeAffinity? podAffinity:PodAffinity? podAntiAffinity:PodAntiAffinity?",
  Toleration: "key operator value effect tolerationSeconds:int64?",
  HostAlias: "ip! hostnames:string[]",
  PodDNSConfig: "nameservers:string[] searches:string[] options:PodDNSConfigOption[]",
  PodReadinessGate: "conditionType!",
  TopologySpreadConstraint: `
    maxSkew:int32! topologyKey! whenUnsatisfiable! labelSelector:LabelSelector? minDomains:int32?
    nodeAffinityPolicy? nodeTaintsPolicy? matchLabelKeys:string[]`,
  PodOS: "name!",
  PodSchedulingGate: "name!",
  PodResourceClaim: "name! resourceClaimName? resourceClaimTemplateName?",
  PodSchedulingGroup: "podGroupName?",
  Sysctl: "name! value!",
  NodeAffinity: `
    requiredDuringSchedulingIgnoredDuringExecution:NodeSelector?
    preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm[]`,
  PodAffinity: `
    requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm[]
    preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm[]`,
  PodAntiAffinity: `
    requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm[]
    preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm[]`,
  PodDNSConfigOption: "name value?",
  NodeSelector: "nodeSelectorTerms:NodeSelectorTerm[]!",
  PreferredSchedulingTerm: "weight:int32! preference:NodeSelectorTerm!",
  PodAffinityTerm: `
    labelSelector:LabelSelector? namespaces:string[] topologyKey! namespaceSelector:LabelSelector?
    matchLabelKeys:string[] mismatchLabelKeys:string[]`,
  WeightedPodAffinityTerm: "weight:int32! podAffinityTerm:PodAffinityTerm!",
  NodeSelectorTerm: "matchExpressions:NodeSelectorRequirement[] matchFields:NodeSelectorRequirement[]",
  NodeSelectorRequirement: "key! operator! values:string[]",
} as const;
