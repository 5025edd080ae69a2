/** One Job, run twice on the same worker and node: dispatched from the hub, and by the worker's own Job controller. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec, Pod, PodSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { until } from "../../fleet/until.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import type { Case } from "./cases.ts";

export const contestants = ["dispatched", "built-in"] as const;
export type Contestant = (typeof contestants)[number];

/** What became of a Job, with nothing that differs between two right runs. */
export interface Outcome {
  readonly conditions: string[];
  readonly succeeded: number;
  readonly failed: number;
  readonly completedIndexes: string | undefined;
  readonly failedIndexes: string | undefined;
  /** Of each pod that is left: its phase and reason. */
  readonly pods: string[];
  readonly ends: string[];
}

export class Contest {
  readonly #fleet: RealFleet;
  readonly #name: string;

  constructor(fleet: RealFleet, name: string) {
    this.#fleet = fleet;
    this.#name = name;
  }

  /** The namespace of a contestant on the worker; that of the hub has the same name. */
  static namespace = (contestant: Contestant): string => contestant;

  get #worker(): KubeApi {
    return this.#fleet.worker("east").api;
  }

  #home(contestant: Contestant): KubeApi {
    return contestant === "dispatched" ? this.#fleet.hub.api : this.#worker;
  }

  async submit({ job, pod }: Pick<Case, "job" | "pod">): Promise<void> {
    for (const contestant of contestants)
      await this.#home(contestant).create(jobs, Contest.namespace(contestant), {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: this.#name },
        spec: {
          ...job,
          ...(contestant === "dispatched" ? { managedBy: HUB_MANAGED_BY } : {}),
          template: {
            spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, ...pod } as PodSpec,
          },
        } as JobSpec,
      } as Job);
  }

  job(contestant: Contestant): Promise<Job> {
    const key = { namespace: Contest.namespace(contestant), name: this.#name };
    return this.#home(contestant).get(jobs, key);
  }

  /** Its pods, which are on the worker either way. */
  async pods(contestant: Contestant): Promise<Pod[]> {
    const labelSelector = `batch.kubernetes.io/job-name=${this.#name}`;
    return (await this.#worker.list(pods, { namespace: Contest.namespace(contestant), labelSelector })).items;
  }

  async untilRunning(): Promise<void> {
    for (const contestant of contestants)
      await this.#until(`a pod of ${this.#name} runs (${contestant})`, contestant, async () =>
        (await this.pods(contestant)).some(({ status }) => status?.phase === "Running"),
      );
  }

  /** What it came to; pods that were told to end have ended by then. */
  async outcome(contestant: Contestant): Promise<Outcome> {
    await this.#until(`${this.#name} has ended (${contestant})`, contestant, async () => {
      const left = await this.pods(contestant);
      return isFinished(await this.job(contestant)) && left.every(hasEnded);
    });
    const { status = {} } = await this.job(contestant);
    const left = await this.pods(contestant);
    return {
      conditions: (status.conditions ?? []).map(({ type, status, reason, message = "" }) =>
        `${type} ${status} ${reason} ${message.replaceAll(/\S+\/\S+/g, "NAMESPACE/POD")}`.trimEnd(),
      ),
      succeeded: status.succeeded ?? 0,
      failed: status.failed ?? 0,
      completedIndexes: status.completedIndexes,
      failedIndexes: status.failedIndexes,
      pods: left.map(({ status }) => `${status?.phase} ${status?.reason ?? ""}`.trimEnd()).sort(),
      ends: left.flatMap(endsOf).sort(),
    };
  }

  #until(what: string, contestant: Contestant, holds: () => Promise<boolean>): Promise<unknown> {
    const explain = async (): Promise<string> => {
      const [job, left] = [await this.job(contestant), await this.pods(contestant)];
      const { annotations } = job.metadata;
      return JSON.stringify({ job: job.status, annotations, pods: left.map(({ status }) => status) }, null, 1);
    };
    return until(what, holds, { limitMs: 240_000, everyMs: 250, explain });
  }
}

/**
 * Not before the kubelet has recorded the end of every container that could start. Of a pod that it evicts, it may remove the
 * containers before it has read how they ended: then the pod is Failed with a container that waits, and in its next status the
 * end is 137 ContainerStatusUnknown (4 of 30 pods that no Job owned, on an idle node).
 */
const hasEnded = ({ metadata, status }: Pod): boolean => {
  const couldStart = status?.conditions?.some(({ type, status }) => type === "Initialized" && status === "True");
  const recorded = couldStart !== true || status?.containerStatuses?.every(({ state }) => state?.terminated);
  const over = status?.phase === "Succeeded" || status?.phase === "Failed";
  return metadata.deletionTimestamp === undefined && over && recorded === true;
};

function endsOf({ status }: Pod): string[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.flatMap(({ name, state }) => {
    const { exitCode, reason } = state?.terminated ?? {};
    // Error, or ContainerStatusUnknown where the kubelet was quicker than itself.
    const why = status?.reason === "Evicted" ? "Evicted" : reason;
    return exitCode === undefined ? [] : [`${name} ${exitCode} ${why}`];
  });
}
