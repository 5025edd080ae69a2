import type { Strategy } from "../api/types.ts";
import { isRecord } from "../store/frozen.ts";

const NODE_INFO = {
  machineID: "",
  systemUUID: "",
  bootID: "",
  kernelVersion: "",
  osImage: "",
  containerRuntimeVersion: "",
  kubeletVersion: "",
  kubeProxyVersion: "",
  operatingSystem: "",
  architecture: "",
};

export const nodeStrategy: Strategy = {
  applyDefaults(draft) {
    const status = isRecord(draft.status) ? draft.status : {};
    const { capacity } = status;
    return {
      ...draft,
      spec: draft.spec ?? {},
      status: {
        ...(capacity === undefined ? {} : { allocatable: capacity }),
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        ...status,
        nodeInfo: { ...NODE_INFO, ...(isRecord(status.nodeInfo) ? status.nodeInfo : {}) },
      },
    };
  },
  prepareUpdate: (before, after) => ({ ...after, status: before.status }),
  prepareStatus: (before, after) => ({ ...after, spec: before.spec }),
};
