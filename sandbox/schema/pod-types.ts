/**
 * The parts of a decoded pod spec that defaulting and validation look into. `types.ts` has the view for everyone else;
 * only objects that came out of `decode.ts` may be seen through these types.
 */
import type { Container, LabelSelector, ObjectMeta, PodSpec } from "@jobferry/shared/job/types.ts";

export type Quantities = Record<string, string>;

export interface FullPodSpec extends PodSpec {
  containers: FullContainer[];
  initContainers?: FullContainer[];
  ephemeralContainers?: FullContainer[];
  volumes?: Volume[];
  dnsPolicy?: string;
  dnsConfig?: { nameservers?: string[]; searches?: string[]; options?: { name?: string; value?: string }[] };
  nodeSelector?: Record<string, string>;
  serviceAccountName?: string;
  serviceAccount?: string;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  shareProcessNamespace?: boolean;
  setHostnameAsFQDN?: boolean;
  hostnameOverride?: string;
  securityContext?: PodSecurityContext;
  affinity?: Affinity;
  schedulerName?: string;
  tolerations?: Toleration[];
  hostAliases?: { ip: string; hostnames?: string[] }[];
  priorityClassName?: string;
  readinessGates?: { conditionType: string }[];
  schedulingGates?: { name: string }[];
  runtimeClassName?: string;
  preemptionPolicy?: string;
  enableServiceLinks?: boolean;
  overhead?: Quantities;
  topologySpreadConstraints?: TopologySpreadConstraint[];
  os?: { name: string };
  resourceClaims?: { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
  resources?: ResourceRequirements;
}

export interface ResourceRequirements {
  limits?: Quantities;
  requests?: Quantities;
  claims?: { name: string; request?: string }[];
}

export interface FullContainer extends Container {
  ports?: ContainerPort[];
  env?: EnvVarWithSource[];
  envFrom?: { prefix?: string; configMapRef?: { name?: string }; secretRef?: { name?: string } }[];
  resources: ResourceRequirements;
  resizePolicy?: { resourceName: string; restartPolicy: string }[];
  restartPolicyRules?: { action?: string; exitCodes?: { operator?: string; values?: number[] } }[];
  volumeMounts?: VolumeMount[];
  volumeDevices?: { name: string; devicePath: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { postStart?: Handler; preStop?: Handler; stopSignal?: string };
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  imagePullPolicy?: string;
  securityContext?: SecurityContext;
  targetContainerName?: string;
}

export interface ContainerPort {
  name?: string;
  hostPort?: number;
  containerPort: number;
  protocol?: string;
  hostIP?: string;
}

interface KeySelector {
  name?: string;
  key: string;
}

export interface FieldRef {
  apiVersion?: string;
  fieldPath: string;
}

export interface ResourceFieldRef {
  containerName?: string;
  resource: string;
  divisor: string;
}

/** An alias, not an interface: it must fit `Record<string, unknown>` of the public view. */
export type EnvVarSource = {
  fieldRef?: FieldRef;
  resourceFieldRef?: ResourceFieldRef;
  configMapKeyRef?: KeySelector;
  secretKeyRef?: KeySelector;
  fileKeyRef?: { volumeName: string; path: string; key: string; optional?: boolean };
};

export interface EnvVarWithSource {
  name: string;
  value?: string;
  valueFrom?: EnvVarSource;
}

export interface VolumeMount {
  name: string;
  readOnly?: boolean;
  recursiveReadOnly?: string;
  mountPath: string;
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: string;
}

export interface Handler {
  exec?: { command?: string[] };
  httpGet?: { path?: string; port: number | string; scheme?: string; httpHeaders?: { name: string; value: string }[] };
  tcpSocket?: { port: number | string };
  grpc?: { port: number; service?: string };
  sleep?: { seconds: number };
}

export interface Probe extends Handler {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

interface LocalProfile {
  type: string;
  localhostProfile?: string;
}

export interface SecurityContext {
  capabilities?: { add?: string[]; drop?: string[] };
  privileged?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  allowPrivilegeEscalation?: boolean;
  procMount?: string;
  seccompProfile?: LocalProfile;
  appArmorProfile?: LocalProfile;
  windowsOptions?: Record<string, unknown>;
}

export interface PodSecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
  fsGroup?: number;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: string;
  fsGroupChangePolicy?: string;
  seLinuxChangePolicy?: string;
  seccompProfile?: LocalProfile;
  appArmorProfile?: LocalProfile;
  sysctls?: { name: string; value: string }[];
  windowsOptions?: Record<string, unknown>;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

export interface DownwardFile {
  path: string;
  fieldRef?: FieldRef;
  resourceFieldRef?: ResourceFieldRef;
  mode?: number;
}

export interface Volume {
  name: string;
  emptyDir?: { medium?: string; sizeLimit?: string };
  hostPath?: { path: string; type?: string };
  secret?: { secretName?: string; items?: KeyToPath[]; defaultMode?: number };
  configMap?: { name?: string; items?: KeyToPath[]; defaultMode?: number };
  persistentVolumeClaim?: { claimName: string };
  nfs?: { server: string; path: string };
  downwardAPI?: { items?: DownwardFile[]; defaultMode?: number };
  projected?: { sources: Projection[]; defaultMode?: number };
  csi?: { driver: string; nodePublishSecretRef?: { name?: string } };
  ephemeral?: { volumeClaimTemplate?: { metadata: ObjectMeta; spec: { volumeMode?: string } } };
  image?: { reference?: string; pullPolicy?: string };
  [source: string]: unknown;
}

export interface Projection {
  secret?: { name?: string; items?: KeyToPath[] };
  configMap?: { name?: string; items?: KeyToPath[] };
  downwardAPI?: { items?: DownwardFile[] };
  serviceAccountToken?: { audience?: string; expirationSeconds?: number; path: string };
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface NodeRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeRequirement[];
  matchFields?: NodeRequirement[];
}

export interface PodAffinityTerm {
  labelSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  namespaces?: string[];
  topologyKey: string;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: PodAffinityTerm }[];
}

export interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] };
    preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[];
  };
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
}

export interface TopologySpreadConstraint {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: string;
  labelSelector?: LabelSelector;
  minDomains?: number;
  nodeAffinityPolicy?: string;
  nodeTaintsPolicy?: string;
  matchLabelKeys?: string[];
}
