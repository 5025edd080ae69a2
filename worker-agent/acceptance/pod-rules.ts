/** What a pod may not ask for on this cluster unless its operator says otherwise: everything that reaches the node itself. */
import type { JobSpec } from "@jobferry/shared/job/types.ts";

/** Those that containers may add without being more than a container, as in the Pod Security Standard "baseline". */
const HARMLESS_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

/** As much of a pod's spec as the rules look at. The API server has checked its shape, on the hub. */
interface PodFields {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly securityContext?: SecurityFields;
  readonly volumes?: readonly { readonly name?: string; readonly hostPath?: object }[];
  readonly containers?: readonly ContainerFields[];
  readonly initContainers?: readonly ContainerFields[];
}

interface ContainerFields {
  readonly name?: string;
  readonly securityContext?: SecurityFields;
}

interface SecurityFields {
  readonly privileged?: boolean;
  readonly procMount?: string;
  readonly capabilities?: { readonly add?: readonly string[] };
  readonly windowsOptions?: { readonly hostProcess?: boolean };
}

/** The fields that ask for too much; empty for a pod that stays in its containers. */
export function reachesNode({ template }: JobSpec): string[] {
  const pod: PodFields = template.spec;
  const found: string[] = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => pod[field] === true);
  for (const { name, hostPath } of pod.volumes ?? [])
    if (hostPath !== undefined) found.push(`hostPath of volume ${name}`);
  if (pod.securityContext?.windowsOptions?.hostProcess === true) found.push("hostProcess");
  for (const container of [...(pod.initContainers ?? []), ...(pod.containers ?? [])])
    for (const what of excessOf(container.securityContext ?? {})) found.push(`${what} of container ${container.name}`);
  return found;
}

function excessOf({ privileged, procMount, capabilities, windowsOptions }: SecurityFields): string[] {
  return [
    ...(privileged === true ? ["privileged"] : []),
    ...(procMount !== undefined && procMount !== "Default" ? ["procMount"] : []),
    ...(windowsOptions?.hostProcess === true ? ["hostProcess"] : []),
    ...(capabilities?.add ?? []).filter((name) => !HARMLESS_CAPABILITIES.has(name)).map((name) => `capability ${name}`),
  ];
}

/** The account that the pods act as; `default` needs no leave. */
export function serviceAccountOf({ template }: JobSpec): string {
  const { serviceAccountName, serviceAccount }: PodFields = template.spec;
  return serviceAccountName || serviceAccount || "default";
}
