import { checkDnsLabel } from "@jobferry/shared/job/names.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { ContainerPort, FullContainer, FullPodSpec, Volume } from "../../schema/pod-types.ts";
import { validateEnv, validateEnvFrom } from "./env.ts";
import { validateVolumeDevices, validateVolumeMounts } from "./mounts.ts";
import { checkPortName, isPortNumber, validateHandler, validateProbes } from "./probes.ts";
import { validateResources } from "./resources.ts";
import { validateContainerSecurity } from "./security.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const CONTAINER_RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const MAX_RESTART_RULES = 20;
const MAX_RESTART_EXIT_CODES = 255;

type Volumes = ReadonlyMap<string, Volume>;

export function validateContainers(v: Violations, path: string, spec: FullPodSpec, volumes: Volumes): void {
  const names = new Set<string>();
  validateAppContainers(v, `${path}.containers`, spec, volumes, names);
  validateInitContainers(v, `${path}.initContainers`, spec, volumes, names);
  spec.ephemeralContainers?.forEach((container, index) => {
    const field = `${path}.ephemeralContainers[${index}]`;
    validateContainer(v, field, container, spec, volumes);
    if (names.has(container.name)) v.duplicate(`${field}.name`, container.name);
    names.add(container.name);
  });
}

function validateAppContainers(
  v: Violations,
  path: string,
  spec: FullPodSpec,
  volumes: Volumes,
  names: Set<string>,
): void {
  if (spec.containers.length === 0) v.required(path, "a pod needs a container");
  const hostPorts = new Set<string>();
  spec.containers.forEach((container, index) => {
    const field = `${path}[${index}]`;
    validateContainer(v, field, container, spec, volumes);
    if (names.has(container.name)) v.duplicate(`${field}.name`, container.name);
    names.add(container.name);
    validateLifecycleAndProbes(v, field, container, spec);
    validateRestartRules(v, field, container);
    validateHostPorts(v, `${field}.ports`, container, hostPorts);
  });
}

function validateInitContainers(
  v: Violations,
  path: string,
  spec: FullPodSpec,
  volumes: Volumes,
  names: Set<string>,
): void {
  spec.initContainers?.forEach((container, index) => {
    const field = `${path}[${index}]`;
    validateContainer(v, field, container, spec, volumes);
    validateRestartRules(v, field, container);
    if (names.has(container.name)) v.duplicate(`${field}.name`, container.name);
    else if (container.name !== "") names.add(container.name);
    // The API server counts every init container as the first one here.
    validateHostPorts(v, `${path}[0].ports`, container, new Set());
    if (container.restartPolicy === "Always") validateLifecycleAndProbes(v, field, container, spec);
    else refuseSidecarFields(v, field, container);
  });
}

/** Only sidecars live long enough for probes. */
function refuseSidecarFields(v: Violations, path: string, container: FullContainer): void {
  for (const field of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
    if (container[field]) v.forbidden(`${path}.${field}`, "only for init containers with restartPolicy Always");
  }
  container.resizePolicy?.forEach(({ restartPolicy }, index) => {
    if (restartPolicy === "RestartContainer") {
      v.invalid(
        `${path}.resizePolicy[${index}].restartPolicy`,
        restartPolicy,
        "not for init containers that are not sidecars",
      );
    }
  });
}

function validateLifecycleAndProbes(v: Violations, path: string, container: FullContainer, spec: FullPodSpec): void {
  const grace = spec.terminationGracePeriodSeconds;
  const { postStart, preStop } = container.lifecycle ?? {};
  if (postStart) validateHandler(v, `${path}.lifecycle.postStart`, postStart, grace);
  if (preStop) validateHandler(v, `${path}.lifecycle.preStop`, preStop, grace);
  validateProbes(v, path, container, grace);
}

/** What holds for every kind of container. */
function validateContainer(
  v: Violations,
  path: string,
  container: FullContainer,
  spec: FullPodSpec,
  volumes: Volumes,
): void {
  if (container.name === "") v.required(`${path}.name`);
  else v.malformed(`${path}.name`, container.name, checkDnsLabel(container.name));
  if (!container.image) v.required(`${path}.image`);
  v.oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, ["File", "FallbackToLogsOnError"]);
  validatePorts(v, `${path}.ports`, container.ports ?? []);
  validateEnv(v, `${path}.env`, container.env ?? [], spec.volumes ?? []);
  validateEnvFrom(v, `${path}.envFrom`, container.envFrom ?? []);
  validateVolumeMounts(v, `${path}.volumeMounts`, container, volumes);
  validateVolumeDevices(v, `${path}.volumeDevices`, container, volumes);
  v.oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, ["Always", "IfNotPresent", "Never"]);
  const claimNames = new Set((spec.resourceClaims ?? []).map((claim) => claim.name).filter((name) => name !== ""));
  validateResources(v, `${path}.resources`, container.resources, claimNames);
  validateResizePolicy(v, `${path}.resizePolicy`, container, spec.restartPolicy);
  validateContainerSecurity(v, `${path}.securityContext`, container.securityContext ?? {}, spec);
}

function validatePorts(v: Violations, path: string, ports: readonly ContainerPort[]): void {
  const names = new Set<string>();
  ports.forEach(({ name, containerPort, hostPort = 0, protocol }, index) => {
    const field = `${path}[${index}]`;
    if (name) {
      const complaints = checkPortName(name);
      v.malformed(`${field}.name`, name, complaints);
      if (complaints.length === 0 && names.has(name)) v.duplicate(`${field}.name`, name);
      if (complaints.length === 0) names.add(name);
    }
    if (containerPort === 0) v.required(`${field}.containerPort`);
    else if (!isPortNumber(containerPort))
      v.invalid(`${field}.containerPort`, containerPort, "must be between 1 and 65535");
    if (hostPort !== 0 && !isPortNumber(hostPort))
      v.invalid(`${field}.hostPort`, hostPort, "must be between 1 and 65535");
    v.oneOf(`${field}.protocol`, protocol, PROTOCOLS);
  });
}

function validateHostPorts(v: Violations, path: string, { ports = [] }: FullContainer, taken: Set<string>): void {
  ports.forEach(({ hostPort = 0, hostIP = "", protocol = "" }, index) => {
    if (hostPort === 0) return;
    const key = `${protocol}/${hostIP}/${hostPort}`;
    if (taken.has(key)) v.duplicate(`${path}[${index}].hostPort`, key);
    taken.add(key);
  });
}

function validateResizePolicy(
  v: Violations,
  path: string,
  { resizePolicy = [] }: FullContainer,
  podRestartPolicy: string | undefined,
): void {
  const seen = new Set<string>();
  resizePolicy.forEach(({ resourceName, restartPolicy }, index) => {
    if (seen.has(resourceName)) v.duplicate(`${path}[${index}]`, resourceName);
    seen.add(resourceName);
    v.oneOf(path, resourceName, ["cpu", "memory"]);
    v.oneOf(path, restartPolicy, ["NotRequired", "RestartContainer"]);
    if (podRestartPolicy === "Never" && restartPolicy !== "NotRequired") {
      v.invalid(path, restartPolicy, "must be NotRequired when the pod's restartPolicy is Never");
    }
  });
}

function validateRestartRules(
  v: Violations,
  path: string,
  { restartPolicy, restartPolicyRules = [] }: FullContainer,
): void {
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return;
    v.required(`${path}.restartPolicy`, "when there are restartPolicyRules");
  } else if (!CONTAINER_RESTART_POLICIES.includes(restartPolicy)) {
    v.notSupported(`${path}.restartPolicy`, restartPolicy, CONTAINER_RESTART_POLICIES);
  }
  if (restartPolicyRules.length > MAX_RESTART_RULES) {
    v.tooMany(`${path}.restartPolicyRules`, restartPolicyRules.length, MAX_RESTART_RULES);
  }
  restartPolicyRules.forEach(({ action = "", exitCodes }, index) => {
    const field = `${path}.restartPolicyRules[${index}]`;
    const actions = ["Restart", "RestartAllContainers"];
    if (!actions.includes(action)) v.notSupported(`${field}.action`, action, actions);
    if (exitCodes === undefined) {
      v.required(`${field}.exitCodes`);
      return;
    }
    const { operator = "", values = [] } = exitCodes;
    if (operator !== "In" && operator !== "NotIn")
      v.notSupported(`${field}.exitCodes.operator`, operator, ["In", "NotIn"]);
    if (values.length > MAX_RESTART_EXIT_CODES) {
      v.tooMany(`${field}.exitCodes.values`, values.length, MAX_RESTART_EXIT_CODES);
    }
  });
}
