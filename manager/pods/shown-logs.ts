import type { Pod } from "@jobferry/shared/job/types.ts";
import { SHADOW_LABEL, WORKER_POD } from "@jobferry/shared/protocol/marks.ts";
import { hubUid } from "@jobferry/shared/protocol/names.ts";
import type { HubJobs } from "../hub/jobs.ts";
import type { Phases } from "../hub/phase.ts";
import { LogError, type LogTarget } from "./log-reader.ts";
import { workerPodUid } from "./projection.ts";
import type { Shadows } from "./shadows.ts";

export interface ShownLogsOptions {
  readonly jobs: Pick<HubJobs, "byUid">;
  readonly phases: Phases;
  readonly shadows: Pick<Shadows, "get">;
}

/** What is asked of the virtual node's kubelet. */
export interface ShownContainer {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Logs of pods that the hub shows, found by the name of their shadow. */
export class ShownLogs {
  readonly #options: ShownLogsOptions;

  constructor(options: ShownLogsOptions) {
    this.#options = options;
  }

  /**
   * Throws LogError. Whoever may edit a shadow may edit what it says of its pod: so the Job must be one of this namespace, and
   * what the manager granted decides which cluster is asked.
   */
  find({ namespace, pod: name, container }: ShownContainer): LogTarget {
    const { jobs, phases, shadows } = this.#options;
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
    return { cluster, uid, epoch, pod, container };
  }
}

function notStarted({ metadata, status }: Pod, container: string): LogError {
  const why = status?.conditions?.find(({ type }) => type === "PodScheduled")?.message ?? "its Job has no cluster yet";
  const message = `container "${container}" in pod "${metadata.name}" is waiting to start: ${why}`;
  return new LogError({ code: 400, message });
}
