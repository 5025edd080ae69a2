import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullContainer, Volume, VolumeMount } from "../../schema/pod-types.ts";
import { hasBackstep, validateRelativePath } from "./paths.ts";

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

export function validateVolumeMounts(
  v: Violations,
  path: string,
  container: FullContainer,
  volumes: ReadonlyMap<string, Volume>,
): void {
  const devices = container.volumeDevices ?? [];
  const mountPoints = new Set<string>();
  container.volumeMounts?.forEach((mount, index) => {
    const field = `${path}[${index}]`;
    if (mount.name === "") v.required(`${field}.name`);
    if (!volumes.has(mount.name)) v.notFound(`${field}.name`, mount.name);
    if (mount.mountPath === "") v.required(`${field}.mountPath`);
    if (mountPoints.has(mount.mountPath)) v.invalid(`${field}.mountPath`, mount.mountPath, "must be unique");
    mountPoints.add(mount.mountPath);
    if (devices.some((device) => device.name === mount.name)) {
      v.invalid(`${field}.name`, mount.name, "is already used in volumeDevices");
    }
    if (devices.some((device) => device.devicePath === mount.mountPath)) {
      v.invalid(`${field}.mountPath`, mount.mountPath, "is already used in volumeDevices");
    }
    validateSubPaths(v, path, field, mount);
    validateMountModes(v, path, mount, container.securityContext?.privileged === true);
  });
}

/** The API server names the list, not the entry, for most of these. */
function validateSubPaths(v: Violations, list: string, field: string, { subPath, subPathExpr }: VolumeMount): void {
  if (subPath) validateRelativePath(v, `${list}.subPath`, subPath);
  if (!subPathExpr) return;
  if (subPath) v.invalid(`${field}.subPathExpr`, subPathExpr, "not together with subPath");
  validateRelativePath(v, `${list}.subPathExpr`, subPathExpr);
}

function validateMountModes(v: Violations, list: string, mount: VolumeMount, privileged: boolean): void {
  const { mountPropagation, recursiveReadOnly } = mount;
  if (mountPropagation !== undefined) {
    const field = `${list}.mountPropagation`;
    if (!PROPAGATIONS.includes(mountPropagation)) v.notSupported(field, mountPropagation, PROPAGATIONS);
    if (mountPropagation === "Bidirectional" && !privileged) v.forbidden(field, "only for privileged containers");
  }
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  const field = `${list}.recursiveReadOnly`;
  if (!RECURSIVE_READ_ONLY.includes(recursiveReadOnly)) {
    v.notSupported(field, recursiveReadOnly, RECURSIVE_READ_ONLY);
    return;
  }
  if (!mount.readOnly) v.forbidden(field, "only when readOnly is true");
  if (mountPropagation !== undefined && mountPropagation !== "None")
    v.forbidden(field, "only without mountPropagation");
}

export function validateVolumeDevices(
  v: Violations,
  path: string,
  { volumeDevices = [], volumeMounts = [] }: FullContainer,
  volumes: ReadonlyMap<string, Volume>,
): void {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  volumeDevices.forEach(({ name, devicePath }, index) => {
    const field = `${path}[${index}]`;
    const volume = volumes.get(name);
    if (name === "") v.required(`${field}.name`);
    if (names.has(name)) v.invalid(`${field}.name`, name, "must be unique");
    if (volume === undefined) v.notFound(`${field}.name`, name);
    else if (!volume.persistentVolumeClaim && !volume.ephemeral)
      v.invalid(`${field}.name`, name, "must be a claimed volume");
    if (devicePath === "") v.required(`${field}.devicePath`);
    if (paths.has(devicePath)) v.invalid(`${field}.devicePath`, devicePath, "must be unique");
    if (hasBackstep(devicePath)) v.invalid(`${field}.devicePath`, devicePath, "must not contain '..'");
    else paths.add(devicePath);
    if (volumeMounts.some((mount) => mount.name === name))
      v.invalid(`${field}.name`, name, "is already used in volumeMounts");
    if (volumeMounts.some((mount) => mount.mountPath === devicePath)) {
      v.invalid(`${field}.devicePath`, devicePath, "is already used in volumeMounts");
    }
    if (name !== "") names.add(name);
  });
}
