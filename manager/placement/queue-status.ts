import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";

/** Shows on each JobQueue how many of its Jobs wait and run. Call every few seconds; what has not changed is not written. */
export async function writeQueueStatus(
  api: KubeApi,
  queues: readonly JobQueue[],
  countsOf: (queue: string) => { pending: number; running: number },
): Promise<void> {
  for (const { metadata, status } of queues) {
    const name = metadata.name ?? "";
    const { pending, running } = countsOf(name);
    if (status?.pending === pending && status.running === running) continue;
    const body = { status: { pending, running } };
    try {
      await api.patch(jobQueues, { name }, { type: "merge", body }, { subresource: "status" });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
