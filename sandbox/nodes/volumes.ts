import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { Container, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { type ConfigMap, configMaps, type Secret, secrets } from "@jobferry/shared/kube/resources.ts";
import { ConfigError, lookUp } from "./env.ts";

interface Source {
  readonly name?: string;
  readonly secretName?: string;
  readonly optional?: boolean;
  readonly defaultMode?: number;
  readonly items?: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
}

interface Volume {
  readonly name: string;
  readonly configMap?: Source;
  readonly secret?: Source;
  readonly projected?: {
    readonly defaultMode?: number;
    readonly sources?: readonly { readonly configMap?: Source; readonly secret?: Source }[];
  };
}

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
}

interface VolumeFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

const MODE = 0o644;

/**
 * Writes what a container's volumes hold of ConfigMaps and Secrets below `root`, at their mount paths: a process without a file system
 * of its own cannot have them at the paths themselves. Other sorts of volumes are left out.
 */
export async function mountVolumes(pod: Pod, container: Container, root: string, api: KubeApi): Promise<void> {
  const volumes = (pod.spec.volumes ?? []) as readonly Volume[];
  // The outer one first: its folder is made anew.
  const mounts = ((container.volumeMounts ?? []) as readonly Mount[]).toSorted(
    (one, other) => one.mountPath.length - other.mountPath.length,
  );
  for (const { name, mountPath, subPath } of mounts) {
    const volume = volumes.find((each) => each.name === name);
    const files = volume === undefined ? undefined : await filesOf(volume, pod, api);
    if (files === undefined) continue;
    const target = within(root, mountPath);
    await rm(target, { recursive: true, force: true });
    if (subPath === undefined || subPath === "") await writeAll(target, files);
    else await writeSubPath(target, subPath, files);
  }
}

/** Undefined: a sort of volume that is not mounted here. */
async function filesOf(volume: Volume, pod: Pod, api: KubeApi): Promise<VolumeFile[] | undefined> {
  const { configMap, secret, projected } = volume;
  if (configMap !== undefined) return fromConfigMap(configMap, configMap.defaultMode, pod, api);
  if (secret !== undefined) return fromSecret(secret, secret.defaultMode, pod, api);
  if (projected === undefined) return undefined;
  const files: VolumeFile[] = [];
  for (const source of projected.sources ?? []) {
    if (source.configMap !== undefined)
      files.push(...(await fromConfigMap(source.configMap, projected.defaultMode, pod, api)));
    if (source.secret !== undefined) files.push(...(await fromSecret(source.secret, projected.defaultMode, pod, api)));
  }
  return files;
}

async function fromConfigMap(source: Source, mode: number | undefined, pod: Pod, api: KubeApi): Promise<VolumeFile[]> {
  const object = await lookUp<ConfigMap>(source, "configmap", (key) => api.get(configMaps, key), { pod });
  const text = Object.entries(object?.data ?? {}).map(([key, value]) => [key, Buffer.from(value)] as const);
  const binary = Object.entries(object?.binaryData ?? {}).map(
    ([key, value]) => [key, Buffer.from(value, "base64")] as const,
  );
  return chosen(source, object === undefined ? undefined : new Map([...text, ...binary]), mode);
}

async function fromSecret(source: Source, mode: number | undefined, pod: Pod, api: KubeApi): Promise<VolumeFile[]> {
  const named = { ...source, name: source.secretName ?? source.name ?? "" };
  const object = await lookUp<Secret>(named, "secret", (key) => api.get(secrets, key), { pod });
  const data = Object.entries(object?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64")] as const);
  return chosen(source, object === undefined ? undefined : new Map(data), mode);
}

function chosen({ items, optional }: Source, data: ReadonlyMap<string, Buffer> | undefined, mode = MODE): VolumeFile[] {
  if (data === undefined) return [];
  if (items === undefined) return [...data].map(([path, bytes]) => ({ path, bytes, mode }));
  return items.flatMap((item) => {
    const bytes = data.get(item.key);
    if (bytes === undefined && optional !== true)
      throw new ConfigError(`references non-existent config key: ${item.key}`);
    return bytes === undefined ? [] : [{ path: item.path, bytes, mode: item.mode ?? mode }];
  });
}

async function writeAll(target: string, files: readonly VolumeFile[]): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const { path, bytes, mode } of files) await write(within(target, path), bytes, mode);
}

/** One file of the volume, or a folder of it; what it does not have becomes an empty folder. */
async function writeSubPath(target: string, subPath: string, files: readonly VolumeFile[]): Promise<void> {
  const file = files.find(({ path }) => path === subPath);
  if (file !== undefined) return write(target, file.bytes, file.mode);
  const inside = files.filter(({ path }) => path.startsWith(`${subPath}/`));
  return writeAll(
    target,
    inside.map((each) => ({ ...each, path: each.path.slice(subPath.length + 1) })),
  );
}

async function write(path: string, bytes: Buffer, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes, { mode });
}

/** Never above `root`, whatever the path says. */
const within = (root: string, path: string): string => join(root, normalize(`/${path}`));
