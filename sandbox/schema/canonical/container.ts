/** Containers of a pod, in the notation of `notation.ts`. */
export const CONTAINER_TYPES = {
  Container: `
    name! image command:string[] args:string[] workingDir ports:ContainerPort[] envFrom:EnvFromSource[] env:EnvVar[]
    resources:ResourceRequirements! resizePolicy:ContainerResizePolicy[] restartPolicy?
    restartPolicyRules:ContainerRestartRule[] volumeMounts:VolumeMount[] volumeDevices:VolumeDevice[]
    livenessProbe:Probe? readinessProbe:Probe? startupProbe:Probe? lifecycle:Lifecycle? terminationMessagePath
    terminationMessagePolicy imagePullPolicy securityContext:SecurityContext? stdin:bool stdinOnce:bool tty:bool`,
  EphemeralContainer: "...Container targetContainerName",
  ContainerPort: "name hostPort:int32 containerPort:int32! protocol hostIP",
  EnvFromSource: "prefix configMapRef:ConfigMapEnvSource? secretRef:SecretEnvSource?",
  EnvVar: "name! value valueFrom:EnvVarSource?",
  ResourceRequirements: "limits:quantity{} requests:quantity{} claims:ResourceClaim[]",
  ContainerResizePolicy: "resourceName! restartPolicy!",
  ContainerRestartRule: "action exitCodes:ContainerRestartRuleOnExitCodes?",
  VolumeMount: "name! readOnly:bool recursiveReadOnly? mountPath! subPath mountPropagation? subPathExpr",
  VolumeDevice: "name! devicePath!",
  Probe: `
    exec:ExecAction? httpGet:HTTPGetAction? tcpSocket:TCPSocketAction? grpc:GRPCAction? initialDelaySeconds:int32
    timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32 failureThreshold:int32
    terminationGracePeriodSeconds:int64?`,
  Lifecycle: "postStart:LifecycleHandler? preStop:LifecycleHandler? stopSignal?",
  SecurityContext: `
    capabilities:Capabilities? privileged:bool? seLinuxOptions:SELinuxOptions?
    windowsOptions:WindowsSecurityContextOptions? runAsUser:int64? runAsGroup:int64? runAsNonRoot:bool?
    readOnlyRootFilesystem:bool? allowPrivilegeEscalation:bool? procMount? seccompProfile:SeccompProfile?
    appArmorProfile:AppArmorProfile?`,
  ConfigMapEnvSource: "name optional:bool?",
  SecretEnvSource: "name optional:bool?",
  EnvVarSource: `
    fieldRef:ObjectFieldSelector? resourceFieldRef:ResourceFieldSelector? configMapKeyRef:ConfigMapKeySelector?
    secretKeyRef:SecretKeySelector? fileKeyRef:FileKeySelector?`,
  ResourceClaim: "name! request",
  ContainerRestartRuleOnExitCodes: "operator values:int32[]",
  ExecAction: "command:string[]",
  HTTPGetAction: "path port:intOrString! host scheme httpHeaders:HTTPHeader[]",
  TCPSocketAction: "port:intOrString! host",
  GRPCAction: "port:int32! service?",
  LifecycleHandler: "exec:ExecAction? httpGet:HTTPGetAction? tcpSocket:TCPSocketAction? sleep:SleepAction?",
  Capabilities: "add:string[] drop:string[]",
  SELinuxOptions: "user role type level",
  WindowsSecurityContextOptions: "gmsaCredentialSpecName? gmsaCredentialSpec? runAsUserName? hostProcess:bool?",
  SeccompProfile: "type! localhostProfile?",
  AppArmorProfile: "type! localhostProfile?",
  ObjectFieldSelector: "apiVersion fieldPath!",
  ResourceFieldSelector: "containerName resource! divisor:quantity!",
  ConfigMapKeySelector: "name key! optional:bool?",
  SecretKeySelector: "name key! optional:bool?",
  FileKeySelector: "volumeName! path! key! optional:bool?",
  HTTPHeader: "name! value!",
  SleepAction: "seconds:int64!",
} as const;
