import { CONTROLLER_UID_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeClient } from "@jobferry/shared/kube/client.ts";
import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";

/** Where the pods of a Job and their logs are read. */
export interface LogSource {
  pods(job: Job): Promise<Pod[]>;
  read(pod: Pod, options: LogOptions & { container: string }): Promise<AsyncIterable<Uint8Array>>;
}

/** As the hub shows them: kubectl reads the same. */
export const shownPods = (api: KubeClient, namespace: string): LogSource => ({
  pods: async ({ metadata, spec }) => {
    const label = spec.manualSelector === true ? SHADOW_LABEL : CONTROLLER_UID_LABEL;
    return (await api.list(pods, { namespace, labelSelector: `${label}=${metadata.uid}` })).items;
  },
  read: (pod, options) =>
    api.readLog({ namespace, name: pod.metadata.name ?? "" }, options, new AbortController().signal),
});
