import { unitsOf } from "@jobferry/shared/job/requests.ts";
import type { Container, EnvVar, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import { expand } from "./command.ts";

/** The environment cannot be built for now: `CreateContainerConfigError`. */
export class ConfigError extends Error {}

export interface EnvContext {
  api: KubeApi;
  pod: Pod;
  podIP: string;
  hostIP: string;
  /** What the node offers, for resource fields without a limit. */
  allocatable: Readonly<Record<string, string>>;
}

interface KeyRef {
  name?: string;
  key?: string;
  optional?: boolean;
}

interface EnvSource {
  prefix?: string;
  configMapRef?: KeyRef;
  secretRef?: KeyRef;
}

interface ValueFrom {
  fieldRef?: { fieldPath?: string };
  resourceFieldRef?: { containerName?: string; resource?: string; divisor?: string };
  configMapKeyRef?: KeyRef;
  secretKeyRef?: KeyRef;
}

/** The variables a container's manifest asks for, later ones over earlier ones. */
export async function containerEnv(container: Container, context: EnvContext): Promise<Map<string, string>> {
  const env = new Map<string, string>();
  for (const source of (container.envFrom ?? []) as EnvSource[]) await addAll(env, source, context);
  for (const variable of container.env ?? []) {
    const value = await valueFor(variable, env, container, context);
    if (value !== undefined) env.set(variable.name, value);
  }
  return env;
}

async function addAll(env: Map<string, string>, source: EnvSource, context: EnvContext): Promise<void> {
  const { prefix = "", configMapRef, secretRef } = source;
  const data =
    configMapRef !== undefined
      ? await configMapData(configMapRef, context)
      : secretRef !== undefined
        ? await secretData(secretRef, context)
        : undefined;
  for (const [key, value] of Object.entries(data ?? {})) env.set(`${prefix}${key}`, value);
}

async function valueFor(
  variable: EnvVar,
  env: ReadonlyMap<string, string>,
  container: Container,
  context: EnvContext,
): Promise<string | undefined> {
  const from = variable.valueFrom as ValueFrom | undefined;
  if (from === undefined) return expand(variable.value ?? "", env);
  if (from.fieldRef !== undefined) return fieldValue(from.fieldRef.fieldPath ?? "", context);
  if (from.resourceFieldRef !== undefined) return resourceValue(from.resourceFieldRef, container, context);
  if (from.configMapKeyRef !== undefined)
    return pick(await configMapData(from.configMapKeyRef, context), from.configMapKeyRef, "ConfigMap", context);
  if (from.secretKeyRef !== undefined)
    return pick(await secretData(from.secretKeyRef, context), from.secretKeyRef, "Secret", context);
  return "";
}

function pick(
  data: Readonly<Record<string, string>> | undefined,
  { name = "", key = "", optional }: KeyRef,
  kind: string,
  { pod }: EnvContext,
): string | undefined {
  const value = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined && !optional)
    throw new ConfigError(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`);
  return value;
}

async function configMapData(ref: KeyRef, context: EnvContext): Promise<Record<string, string> | undefined> {
  const object = await lookUp(ref, "configmap", (key) => context.api.get(configMaps, key), context);
  return object === undefined ? undefined : (object.data ?? {});
}

async function secretData(ref: KeyRef, context: EnvContext): Promise<Record<string, string> | undefined> {
  const object = await lookUp(ref, "secret", (key) => context.api.get(secrets, key), context);
  if (object === undefined) return undefined;
  const decoded = Object.entries(object.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return Object.fromEntries(decoded) as Record<string, string>;
}

/** Undefined: it is not there, and need not be. */
export async function lookUp<T>(
  { name = "", optional }: KeyRef,
  kind: string,
  get: (key: { namespace: string; name: string }) => Promise<T>,
  { pod }: Pick<EnvContext, "pod">,
): Promise<T | undefined> {
  try {
    return await get({ namespace: pod.metadata.namespace ?? "", name });
  } catch (error) {
    if (isNotFound(error)) {
      if (optional) return undefined;
      throw new ConfigError(`${kind} "${name}" not found`);
    }
    throw new ConfigError(`${kind} "${name}" could not be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The downward API. */
function fieldValue(path: string, { pod, podIP, hostIP }: EnvContext): string {
  const { metadata, spec } = pod;
  const entry = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (entry !== null) return metadata[entry[1] as "labels" | "annotations"]?.[entry[2] ?? ""] ?? "";
  switch (path) {
    case "metadata.name":
      return metadata.name ?? "";
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid ?? "";
    case "spec.nodeName":
      return spec.nodeName ?? "";
    case "spec.serviceAccountName":
      return typeof spec.serviceAccountName === "string" ? spec.serviceAccountName : "";
    case "status.hostIP":
    case "status.hostIPs":
      return hostIP;
    case "status.podIP":
    case "status.podIPs":
      return podIP;
    default:
      throw new ConfigError(`unsupported fieldPath: ${path}`);
  }
}

/** Without a limit the node's allocatable amount counts; CPUs and bytes are rounded up to whole divisors. */
function resourceValue(
  { containerName, resource = "", divisor = "1" }: NonNullable<ValueFrom["resourceFieldRef"]>,
  container: Container,
  { pod, allocatable }: EnvContext,
): string {
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const subject = containerName === undefined ? container : all.find(({ name }) => name === containerName);
  const [kind = "", name = ""] = resource.split(/\.(.*)/s);
  const { requests, limits } = subject?.resources ?? {};
  const amount =
    kind === "requests" ? (requests?.[name] ?? limits?.[name] ?? 0) : (limits?.[name] ?? allocatable[name] ?? 0);
  const unit = unitsOf(divisor);
  return String(Math.ceil((unitsOf(amount) ?? 0) / (unit === undefined || unit === 0 ? 1 : unit) - 1e-9));
}
