import { INT32_MAX } from "@jobferry/shared/job/go-int.ts";
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from "@jobferry/shared/job/names.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullPodSpec } from "../../schema/pod-types.ts";
import { validateContainers } from "./containers.ts";
import { validateLabels } from "./metadata.ts";
import { validateDnsConfig, validateHostAliases } from "./pod-dns.ts";
import { validatePodResources } from "./pod-resources.ts";
import { validateResourceClaims, validateResources } from "./resources.ts";
import { validateAffinity, validateTolerations, validateTopologySpread } from "./scheduling.ts";
import { validatePodSecurity } from "./security.ts";
import { type PodContext, validateVolumes } from "./volumes.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const MAX_HOSTNAME_OVERRIDE_BYTES = 64;

export function validatePodSpec(v: Violations, path: string, spec: FullPodSpec, context: PodContext): void {
  if (spec.terminationGracePeriodSeconds === undefined) v.required(`${path}.terminationGracePeriodSeconds`);
  const volumes = validateVolumes(v, `${path}.volumes`, spec.volumes ?? [], context);
  validateResourceClaims(v, `${path}.resourceClaims`, spec.resourceClaims ?? []);
  validateContainers(v, path, spec, volumes);
  validatePodResources(v, `${path}.resources`, spec);
  validateHostNetworkPorts(v, `${path}.containers`, spec, context);
  v.oneOf(`${path}.restartPolicy`, spec.restartPolicy, RESTART_POLICIES);
  v.oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES);
  validateLabels(v, `${path}.nodeSelector`, spec.nodeSelector);
  validatePodSecurity(v, path, spec);
  validateAffinity(v, `${path}.affinity`, spec.affinity ?? {});
  validateDnsConfig(v, `${path}.dnsConfig`, spec);
  validateGates(v, path, spec);
  validateTopologySpread(v, `${path}.topologySpreadConstraints`, spec.topologySpreadConstraints ?? []);
  validateNames(v, path, spec);
  validateDeadline(v, `${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds);
  validateTolerations(v, `${path}.tolerations`, spec.tolerations ?? []);
  validateHostAliases(v, `${path}.hostAliases`, spec.hostAliases ?? []);
  if (spec.preemptionPolicy !== undefined) {
    v.oneOf(`${path}.preemptionPolicy`, spec.preemptionPolicy, ["PreemptLowerPriority", "Never"]);
  }
  if (spec.overhead) validateResources(v, `${path}.overhead`, { limits: spec.overhead }, new Set());
  validateOs(v, `${path}.os`, spec.os);
}

/** With the host's network a container port is a host port. */
function validateHostNetworkPorts(v: Violations, path: string, spec: FullPodSpec, { isPod }: PodContext): void {
  if (!spec.hostNetwork) return;
  spec.containers.forEach(({ ports = [] }, index) => {
    ports.forEach(({ hostPort = 0, containerPort }, position) => {
      if ((isPod || hostPort !== 0) && hostPort !== containerPort) {
        v.invalid(
          `${path}[${index}].ports[${position}].hostPort`,
          hostPort,
          "must equal containerPort with hostNetwork",
        );
      }
    });
  });
}

function validateGates(v: Violations, path: string, spec: FullPodSpec): void {
  spec.readinessGates?.forEach(({ conditionType }, index) => {
    v.malformed(`${path}.readinessGates[${index}].conditionType`, conditionType, checkQualifiedName(conditionType));
  });
  const seen = new Set<string>();
  spec.schedulingGates?.forEach(({ name }, index) => {
    const field = `${path}.schedulingGates[${index}]`;
    v.malformed(field, name, checkQualifiedName(name));
    if (seen.has(name)) v.duplicate(field, name);
    seen.add(name);
  });
}

function validateNames(v: Violations, path: string, spec: FullPodSpec): void {
  for (const field of ["serviceAccountName", "nodeName", "priorityClassName"] as const) {
    const name = spec[field];
    if (name) v.malformed(`${path}.${field}`, name, checkDnsSubdomain(name));
  }
  for (const field of ["hostname", "subdomain"] as const) {
    const name = spec[field];
    if (name) v.malformed(`${path}.${field}`, name, checkDnsLabel(name));
  }
  const { runtimeClassName, hostnameOverride } = spec;
  if (runtimeClassName !== undefined) {
    v.malformed(`${path}.runtimeClassName`, runtimeClassName, checkDnsSubdomain(runtimeClassName));
  }
  if (hostnameOverride !== undefined) validateHostnameOverride(v, `${path}.hostnameOverride`, hostnameOverride, spec);
}

function validateHostnameOverride(v: Violations, field: string, name: string, spec: FullPodSpec): void {
  if (spec.setHostnameAsFQDN) v.forbidden(field, "not together with setHostnameAsFQDN");
  if (spec.hostNetwork) v.forbidden(field, "not together with hostNetwork");
  if (Buffer.byteLength(name) > MAX_HOSTNAME_OVERRIDE_BYTES) v.tooLong(field, MAX_HOSTNAME_OVERRIDE_BYTES);
  v.malformed(field, name, checkDnsSubdomain(name));
}

function validateDeadline(v: Violations, field: string, seconds: number | undefined): void {
  if (seconds !== undefined && (seconds < 1 || seconds > INT32_MAX)) {
    v.invalid(field, seconds, `must be between 1 and ${INT32_MAX}`);
  }
}

function validateOs(v: Violations, field: string, os: FullPodSpec["os"]): void {
  if (os === undefined) return;
  if (os.name === "") v.required(`${field}.name`);
  else if (os.name !== "linux" && os.name !== "windows") v.notSupported(field, os.name, ["linux", "windows"]);
}
