import type { Job } from "@jobferry/shared/job/types.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import { DEFAULT_QUEUE, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Assignment } from "../claim/hub-job.ts";
import { readWishes } from "../claim/wishes.ts";
import type { Queues } from "../placement/queues.ts";
import type { Clusters } from "./registry.ts";
import { stopAfterSeconds, stoppedAfterMs } from "./stop-times.ts";

/** What becomes of a Job whose cluster is lost: its own wish, or else its queue's. */
export class LossPolicy {
  readonly #clusters: Pick<Clusters, "isLost" | "lostAfterMs" | "silentMs">;
  readonly #queues: Pick<Queues, "onClusterLost">;

  constructor(clusters: Pick<Clusters, "isLost" | "lostAfterMs" | "silentMs">, queues: Pick<Queues, "onClusterLost">) {
    this.#clusters = clusters;
    this.#queues = queues;
  }

  of(job: Job): OnClusterLost {
    const read = readWishes(job);
    const wish = "wishes" in read ? read.wishes.onClusterLost : undefined;
    return wish ?? this.#queues.onClusterLost(job.metadata.labels?.[QUEUE_LABEL] ?? DEFAULT_QUEUE);
  }

  /** To be stored with an assignment to this cluster. */
  stopTime(job: Job, cluster: ClusterName): Pick<Assignment, "stopAfterSeconds"> {
    if (this.of(job) !== "StopThenRedispatch") return {};
    return { stopAfterSeconds: stopAfterSeconds(job, this.#clusters.lostAfterMs(cluster)) };
  }

  /** Its cluster is lost, and the Job may start elsewhere. */
  mayLeave(job: Job, { cluster, stopAfterSeconds: stopAfter }: Assignment): boolean {
    if (!this.#clusters.isLost(cluster)) return false;
    switch (this.of(job)) {
      case "Wait":
        return false;
      case "Redispatch":
        return true;
      // Its agent was not told to stop it, if the policy came after the assignment.
      case "StopThenRedispatch":
        return stopAfter !== undefined && this.#clusters.silentMs(cluster) >= stoppedAfterMs(job, stopAfter);
    }
  }
}
