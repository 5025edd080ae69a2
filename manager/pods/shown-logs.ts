import type { Pod } from "@jobferry/shared/job/types.ts";
import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import { SHADOW_LABEL, WORKER_POD } from "@jobferry/shared/protocol/marks.ts";
import { hubUid } from "@jobferry/shared/protocol/names.ts";
import type { HubJobs } from "../hub/jobs.ts";
import type { Phases } from "../hub/phase.ts";
import { LogError, type LogReader } from "./log-reader.ts";
import { workerPodUid } from "./projection.ts";
import type { Shadows } from "./shadows.ts";

export interface ShownLogsOptions {
  readonly jobs: Pick<HubJobs, "byUid">;
  readonly phases: Phases;
  readonly shadows: Pick<Shadows, "get">;
  readonly reader: LogReader;
}

/** Logs of pods that the hub shows, found by the name of their shadow. */
export class ShownLogs {
  readonly #options: ShownLogsOptions;

  constructor(options: ShownLogsOptions) {
    this.#options = options;
  }

  /**
   * Rejects with LogError. Whoever may edit a shadow may edit what it says of its pod: so the Job must be one of this namespace, and
   * what the manager granted decides which cluster is asked.
   */
  async read(
    { namespace, pod: name, container }: { namespace: string; pod: string; container: string },
    options: LogOptions,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<Buffer>> {
    const { jobs, phases, shadows, reader } = this.#options;
    const shadow = shadows.get(namespace, name);
    if (shadow === undefined)
      throw new LogError({ code: 404, message: `pod "${name}" is not one that Jobferry shows` });
    const uid = hubUid.safeParse(shadow.metadata.labels?.[SHADOW_LABEL]).data;
    const job = uid === undefined ? undefined : jobs.byUid(uid);
    if (uid === undefined || job?.metadata.namespace !== namespace)
      throw new LogError({ code: 404, message: `pod "${name}" does not belong to a Job of this namespace` });
    const assignment = phases.assignmentOf(job);
    const pod = { name: shadow.metadata.annotations?.[WORKER_POD] ?? "", uid: workerPodUid(shadow) ?? "" };
    if (assignment === undefined || pod.uid === "") throw notStarted(shadow, container);
    const { cluster, epoch } = assignment;
    return reader.read({ cluster, uid, epoch, pod, container }, options, signal);
  }
}

function notStarted({ metadata, status }: Pod, container: string): LogError {
  const why = status?.conditions?.find(({ type }) => type === "PodScheduled")?.message ?? "its Job has no cluster yet";
  const message = `container "${container}" in pod "${metadata.name}" is waiting to start: ${why}`;
  return new LogError({ code: 400, message });
}
