import { checkDnsLabel, checkDnsSubdomain } from "@jobferry/shared/job/names.ts";
import { compareQuantities } from "@jobferry/shared/job/quantity.ts";
import { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { KeyToPath, Volume } from "../../schema/pod-types.ts";
import { hasBackstep } from "./paths.ts";
import { validateProjections } from "./projections.ts";
import { validateDownwardFile, validateKeyToPath, validateMode } from "./volume-files.ts";

export interface PodContext {
  /** A pod itself rather than a template. */
  readonly isPod: boolean;
}

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const MAX_DRIVER_BYTES = 63;

/** In the order in which the API server looks at them: the first one given is the volume's type. */
const SOURCE_ORDER =
  `emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker persistentVolumeClaim
  rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume photonPersistentDisk portworxVolume
  azureDisk storageos projected scaleIO csi ephemeral image`.split(/\s+/);

/** Field names that differ from the source's own in the API server's complaint about a second source. */
const REPORTED_AS: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

/** Gives the volumes that containers may mount: those without errors. */
export function validateVolumes(
  v: Violations,
  path: string,
  volumes: readonly Volume[],
  context: PodContext,
): ReadonlyMap<string, Volume> {
  const usable = new Map<string, Volume>();
  volumes.forEach((volume, index) => {
    const own = new Violations();
    const field = `${path}[${index}]`;
    validateSource(own, field, volume, context);
    if (volume.name === "") own.required(`${field}.name`);
    else own.malformed(`${field}.name`, volume.name, checkDnsLabel(volume.name));
    if (usable.has(volume.name)) own.duplicate(`${field}.name`, volume.name);
    if (own.errors.length === 0) usable.set(volume.name, volume);
    v.errors.push(...own.errors);
  });
  return usable;
}

function validateSource(v: Violations, path: string, volume: Volume, context: PodContext): void {
  const [first, ...others] = SOURCE_ORDER.filter((source) => volume[source] !== undefined);
  for (const source of others) v.forbidden(`${path}.${REPORTED_AS[source] ?? source}`, "a volume has only one type");
  if (first === undefined) v.required(path, "name a volume type");
  const { emptyDir, hostPath, secret, configMap, persistentVolumeClaim, nfs, downwardAPI, projected, csi } = volume;
  if (emptyDir?.sizeLimit !== undefined && compareQuantities(emptyDir.sizeLimit, "0") < 0) {
    v.forbidden(`${path}.emptyDir.sizeLimit`, "must not be negative");
  }
  if (first === "hostPath" && hostPath) validateHostPath(v, `${path}.hostPath`, hostPath);
  if (first === "secret" && secret) {
    if (!secret.secretName) v.required(`${path}.secret.secretName`);
    validateItems(v, `${path}.secret`, secret);
  }
  if (first === "configMap" && configMap) {
    if (!configMap.name) v.required(`${path}.configMap.name`);
    validateItems(v, `${path}.configMap`, configMap);
  }
  if (first === "persistentVolumeClaim" && persistentVolumeClaim?.claimName === "") {
    v.required(`${path}.persistentVolumeClaim.claimName`);
  }
  if (first === "nfs" && nfs) validateNfs(v, `${path}.nfs`, nfs);
  if (first === "downwardAPI" && downwardAPI) {
    validateMode(v, `${path}.downwardAPI.defaultMode`, downwardAPI.defaultMode);
    for (const file of downwardAPI.items ?? []) validateDownwardFile(v, `${path}.downwardAPI`, file);
  }
  if (first === "projected" && projected) {
    validateMode(v, `${path}.projected.defaultMode`, projected.defaultMode);
    validateProjections(v, `${path}.projected`, projected.sources);
  }
  if (first === "csi" && csi) validateCsi(v, `${path}.csi`, csi);
  if (first === "ephemeral" && !volume.ephemeral?.volumeClaimTemplate)
    v.required(`${path}.ephemeral.volumeClaimTemplate`);
  if (first === "image") validateImage(v, `${path}.image`, volume.image ?? {}, context);
}

function validateHostPath(v: Violations, path: string, hostPath: NonNullable<Volume["hostPath"]>): void {
  if (hostPath.path === "") {
    v.required(`${path}.path`);
    return;
  }
  if (hasBackstep(hostPath.path)) v.invalid(`${path}.path`, hostPath.path, "must not contain '..'");
  if (hostPath.type !== undefined && !HOST_PATH_TYPES.includes(hostPath.type)) {
    v.notSupported(`${path}.type`, hostPath.type, HOST_PATH_TYPES);
  }
}

function validateNfs(v: Violations, path: string, nfs: NonNullable<Volume["nfs"]>): void {
  if (nfs.server === "") v.required(`${path}.server`);
  if (nfs.path === "") v.required(`${path}.path`);
  if (!nfs.path.startsWith("/")) v.invalid(`${path}.path`, nfs.path, "must be an absolute path");
}

function validateCsi(v: Violations, path: string, { driver, nodePublishSecretRef }: NonNullable<Volume["csi"]>): void {
  if (driver === "") v.required(`${path}.driver`);
  else {
    if (Buffer.byteLength(driver) > MAX_DRIVER_BYTES) v.tooLong(`${path}.driver`, MAX_DRIVER_BYTES);
    v.malformed(`${path}.driver`, driver, checkDnsSubdomain(driver.toLowerCase()));
  }
  const secret = nodePublishSecretRef?.name ?? "";
  if (nodePublishSecretRef && secret === "") v.required(`${path}.nodePublishSecretRef.name`);
  else if (nodePublishSecretRef) v.malformed(`${path}.name`, secret, checkDnsSubdomain(secret));
}

function validateImage(v: Violations, path: string, image: NonNullable<Volume["image"]>, { isPod }: PodContext): void {
  if (isPod && !image.reference) v.required(`${path}.reference`);
  v.oneOf(`${path}.pullPolicy`, image.pullPolicy, ["Always", "IfNotPresent", "Never"]);
}

function validateItems(v: Violations, path: string, source: { items?: KeyToPath[]; defaultMode?: number }): void {
  validateMode(v, `${path}.defaultMode`, source.defaultMode);
  source.items?.forEach((item, index) => {
    validateKeyToPath(v, `${path}.items[${index}]`, item);
  });
}
