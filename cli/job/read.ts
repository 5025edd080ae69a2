import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";

/** The Job on the hub, or one sentence that says where it was looked for. */
export async function readJob(api: KubeApi, namespace: string, name: string): Promise<Job> {
  try {
    return await api.get(jobs, { namespace, name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ConfigError(`there is no Job ${name} in namespace ${namespace}; --namespace says where to look`, {
      cause: error,
    });
  }
}
