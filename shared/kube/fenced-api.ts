import type { KubeApi } from "./api.ts";
import { ApiError } from "./errors.ts";

/**
 * The API for somebody who may write only while `holds`. A process that was frozen, or whose machine was suspended, does not know
 * that time has passed: each write asks first, so what it had decided on is not sent after others may have taken over.
 */
export function fencedApi(api: KubeApi, holds: () => boolean): KubeApi {
  const check = (): void => {
    if (!holds()) throw new ApiError(0, "NotSent", "the Lease was not renewed in time: nothing is written until it is");
  };
  return {
    get: (resource, key, options) => api.get(resource, key, options),
    list: (resource, options) => api.list(resource, options),
    watch: (resource, options) => api.watch(resource, options),
    create: async (resource, namespace, object, options) => {
      check();
      return api.create(resource, namespace, object, options);
    },
    replace: async (resource, key, object, options) => {
      check();
      return api.replace(resource, key, object, options);
    },
    patch: async (resource, key, patch, options) => {
      check();
      return api.patch(resource, key, patch, options);
    },
    delete: async (resource, key, options) => {
      check();
      return api.delete(resource, key, options);
    },
  };
}
