import type { DownwardFile, Projection, Volume } from "../../schema/pod-types.ts";
import { defaultPullPolicy } from "./image.ts";

/** rw-r--r--, for files that come from the API. */
const FILE_MODE = 0o644;

type Defaults = Readonly<Record<string, unknown>>;

/** Plain defaults of volume sources; sources with structure of their own follow below. */
const SOURCE_DEFAULTS: Readonly<Record<string, Defaults>> = {
  hostPath: { type: "" },
  secret: { defaultMode: FILE_MODE },
  configMap: { defaultMode: FILE_MODE },
  iscsi: { iscsiInterface: "default" },
  rbd: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" },
  azureDisk: { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" },
  scaleIO: { storageMode: "ThinProvisioned", fsType: "xfs" },
};

export function defaultVolume(volume: Volume): Volume {
  const sources = Object.keys(volume).filter((key) => key !== "name");
  if (sources.length === 0) return { ...volume, emptyDir: {} };
  const result: Volume = { ...volume };
  for (const source of sources) {
    const defaults = SOURCE_DEFAULTS[source];
    if (defaults !== undefined) result[source] = { ...defaults, ...(volume[source] as object) };
  }
  const { downwardAPI, projected, image, ephemeral } = volume;
  if (downwardAPI) result.downwardAPI = { defaultMode: FILE_MODE, ...downwardAPI, ...defaultFiles(downwardAPI.items) };
  if (projected) {
    result.projected = { defaultMode: FILE_MODE, ...projected, sources: projected.sources.map(defaultProjection) };
  }
  if (image) result.image = { pullPolicy: defaultPullPolicy(image.reference), ...image };
  if (ephemeral?.volumeClaimTemplate) {
    const { metadata, spec } = ephemeral.volumeClaimTemplate;
    result.ephemeral = { volumeClaimTemplate: { metadata, spec: { volumeMode: "Filesystem", ...spec } } };
  }
  return result;
}

function defaultProjection(projection: Projection): Projection {
  const { downwardAPI, serviceAccountToken } = projection;
  return {
    ...projection,
    ...(downwardAPI && { downwardAPI: { ...downwardAPI, ...defaultFiles(downwardAPI.items) } }),
    ...(serviceAccountToken && { serviceAccountToken: { expirationSeconds: 3600, ...serviceAccountToken } }),
  };
}

function defaultFiles(items: DownwardFile[] | undefined): { items?: DownwardFile[] } {
  if (items === undefined) return {};
  return {
    items: items.map((file) =>
      file.fieldRef === undefined ? file : { ...file, fieldRef: { apiVersion: "v1", ...file.fieldRef } },
    ),
  };
}
