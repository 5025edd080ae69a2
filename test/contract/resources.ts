import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export const configMapResource: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
