import { INT32_MAX } from "@jobferry/shared/job/go-int.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullPodSpec, PodSecurityContext, SecurityContext } from "../../schema/pod-types.ts";
import { validateRelativePath } from "./paths.ts";

const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
const SYSCTL_NAME = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const MAX_SYSCTL_BYTES = 253;

function validateId(v: Violations, field: string, id: number | undefined): void {
  if (id !== undefined && (id < 0 || id > INT32_MAX)) v.invalid(field, id, `must be between 0 and ${INT32_MAX}`);
}

export function validatePodSecurity(v: Violations, path: string, spec: FullPodSpec): void {
  const context: PodSecurityContext = spec.securityContext ?? {};
  const field = `${path}.securityContext`;
  for (const id of ["fsGroup", "runAsUser", "runAsGroup"] as const) validateId(v, `${field}.${id}`, context[id]);
  context.supplementalGroups?.forEach((group, index) => {
    validateId(v, `${field}.supplementalGroups[${index}]`, group);
  });
  // Reported under the security context although the fields are the pod's own.
  if (spec.hostPID && spec.shareProcessNamespace)
    v.invalid(`${field}.shareProcessNamespace`, true, "not together with hostPID");
  validateSysctls(v, `${field}.sysctls`, context.sysctls ?? []);
  for (const [policy, supported] of POLICIES) {
    const value = context[policy];
    if (value !== undefined && !supported.some((word) => word === value))
      v.notSupported(`${field}.${policy}`, value, supported);
  }
  validateSeccomp(v, `${field}.seccompProfile`, context.seccompProfile);
  validateAppArmor(v, `${field}.appArmorProfile`, context.appArmorProfile);
  if (spec.hostUsers === false) refuseHostNamespaces(v, path, spec);
}

const POLICIES = [
  ["fsGroupChangePolicy", ["Always", "OnRootMismatch"]],
  ["supplementalGroupsPolicy", ["Merge", "Strict"]],
  ["seLinuxChangePolicy", ["MountOption", "Recursive"]],
] as const;

/** A user namespace of its own and the host's other namespaces do not go together. */
function refuseHostNamespaces(v: Violations, path: string, spec: FullPodSpec): void {
  const detail = "not when hostUsers is false";
  if (spec.hostNetwork) v.forbidden(`${path}.hostNetwork`, detail);
  if (spec.hostPID) v.forbidden(`${path}.HostPID`, detail);
  if (spec.hostIPC) v.forbidden(`${path}.HostIPC`, detail);
  for (const list of ["initContainers", "containers"] as const) {
    spec[list]?.forEach(({ volumeDevices }, index) => {
      if (volumeDevices) v.forbidden(`${path}.${list}[${index}].volumeDevices`, detail);
    });
  }
}

function validateSysctls(v: Violations, path: string, sysctls: NonNullable<PodSecurityContext["sysctls"]>): void {
  const names = new Set<string>();
  sysctls.forEach(({ name }, index) => {
    const field = `${path}[${index}].name`;
    if (name === "") v.required(field);
    else if (name.length > MAX_SYSCTL_BYTES || !SYSCTL_NAME.test(name)) v.invalid(field, name, "is not a sysctl name");
    else if (names.has(name)) v.duplicate(field, name);
    names.add(name);
  });
}

export function validateContainerSecurity(
  v: Violations,
  path: string,
  context: SecurityContext,
  spec: FullPodSpec,
): void {
  for (const id of ["runAsUser", "runAsGroup"] as const) validateId(v, `${path}.${id}`, context[id]);
  const { procMount, privileged, allowPrivilegeEscalation, capabilities } = context;
  if (procMount !== undefined && procMount !== "Default" && procMount !== "Unmasked") {
    v.notSupported(`${path}.procMount`, procMount, ["Default", "Unmasked"]);
  }
  if (procMount === "Unmasked" && spec.hostUsers !== false)
    v.invalid(`${path}.procMount`, procMount, "needs hostUsers: false");
  validateSeccomp(v, `${path}.seccompProfile`, context.seccompProfile);
  if (allowPrivilegeEscalation === false) {
    if (privileged) v.invalid(path, undefined, "privileged needs allowPrivilegeEscalation");
    for (const capability of capabilities?.add ?? []) {
      if (capability === "CAP_SYS_ADMIN") v.invalid(path, undefined, "CAP_SYS_ADMIN needs allowPrivilegeEscalation");
    }
  }
  validateAppArmor(v, `${path}.appArmorProfile`, context.appArmorProfile);
}

function validateSeccomp(v: Violations, path: string, profile: SecurityContext["seccompProfile"]): void {
  if (profile === undefined) return;
  v.oneOf(`${path}.type`, profile.type, PROFILE_TYPES);
  const { localhostProfile } = profile;
  if (profile.type !== "Localhost") {
    if (localhostProfile !== undefined)
      v.invalid(`${path}.localhostProfile`, localhostProfile, "only with type Localhost");
  } else if (localhostProfile === undefined) v.required(`${path}.localhostProfile`, "with type Localhost");
  else validateRelativePath(v, `${path}.localhostProfile`, localhostProfile);
}

function validateAppArmor(v: Violations, path: string, profile: SecurityContext["appArmorProfile"]): void {
  if (profile === undefined) return;
  v.oneOf(`${path}.type`, profile.type, PROFILE_TYPES);
  const { localhostProfile } = profile;
  if (profile.type !== "Localhost") {
    if (localhostProfile !== undefined && PROFILE_TYPES.includes(profile.type)) {
      v.invalid(`${path}.localhostProfile`, localhostProfile, "only with type Localhost");
    }
    return;
  }
  if (!localhostProfile) v.required(`${path}.localhostProfile`, "with type Localhost");
  else if (localhostProfile !== localhostProfile.trim()) {
    v.invalid(`${path}.localhostProfile`, localhostProfile, "must not begin or end with a space");
  }
}
