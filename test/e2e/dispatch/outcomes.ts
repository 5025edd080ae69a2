/** A.1 to A.3: what became of a Job is on the hub as it was on the worker. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { expect, it } from "vitest";
import {
  conditionsOf,
  type FleetNamespace,
  forever,
  held,
  type JobOptions,
  type ScenarioFleet,
} from "./fleet-namespace.ts";
import { type History, isInOrder } from "./history.ts";

interface Outcome {
  spec: Partial<Omit<JobSpec, "template">>;
  pod?: JobOptions["pod"];
  /** Brings it about, when the pods alone do not. */
  act?(at: FleetNamespace): Promise<void>;
  /** The interim condition, seen alone on the hub while pods are still terminating. */
  interim?: string;
  conditions: string[];
  status: object;
}

const failing = { annotations: { "instant-pods/exit-code": "3" } };
const indexed = (completions: number) =>
  ({ completionMode: "Indexed", completions, parallelism: completions }) as const;

const OUTCOMES: Record<string, Outcome> = {
  BackoffLimitExceeded: {
    spec: { backoffLimit: 0, parallelism: 2, completions: 2 },
    pod: held,
    act: (at) => at.end("j", 3),
    interim: "FailureTarget=True/BackoffLimitExceeded",
    conditions: ["FailureTarget=True/BackoffLimitExceeded", "Failed=True/BackoffLimitExceeded"],
    status: { failed: 2 },
  },
  DeadlineExceeded: {
    spec: { activeDeadlineSeconds: 2 },
    pod: held,
    interim: "FailureTarget=True/DeadlineExceeded",
    conditions: ["FailureTarget=True/DeadlineExceeded", "Failed=True/DeadlineExceeded"],
    status: { failed: 1 },
  },
  PodFailurePolicy: {
    spec: {
      ...indexed(2),
      podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] },
    },
    pod: held,
    act: (at) => at.end("j", 42, 1),
    interim: "FailureTarget=True/PodFailurePolicy",
    conditions: ["FailureTarget=True/PodFailurePolicy", "Failed=True/PodFailurePolicy"],
    status: { failed: 2 },
  },
  FailedIndexes: {
    spec: { ...indexed(2), backoffLimitPerIndex: 0 },
    pod: failing,
    conditions: ["FailureTarget=True/FailedIndexes", "Failed=True/FailedIndexes"],
    status: { failed: 2, failedIndexes: "0,1" },
  },
  MaxFailedIndexesExceeded: {
    spec: { ...indexed(3), backoffLimitPerIndex: 0, maxFailedIndexes: 0 },
    pod: held,
    act: (at) => at.end("j", 3, 2),
    interim: "FailureTarget=True/MaxFailedIndexesExceeded",
    conditions: ["FailureTarget=True/MaxFailedIndexesExceeded", "Failed=True/MaxFailedIndexesExceeded"],
    status: { failed: 3, failedIndexes: "2" },
  },
  SuccessPolicy: {
    spec: { ...indexed(3), successPolicy: { rules: [{ succeededIndexes: "1" }] } },
    pod: held,
    act: (at) => at.end("j", 0, 1),
    interim: "SuccessCriteriaMet=True/SuccessPolicy",
    conditions: ["SuccessCriteriaMet=True/SuccessPolicy", "Complete=True/SuccessPolicy"],
    status: { succeeded: 1, completedIndexes: "1" },
  },
};

export function outcomes(fleet: ScenarioFleet): void {
  it.concurrent("A.1 a Job runs on a worker, Complete is mirrored, nothing is left there", async () => {
    const at = await fleet.namespace("complete");
    await at.submit("pi", { pod: forever });
    await at.until("ready", async () => (await at.job("pi"))?.status?.ready === 1);
    const { cluster, mirror } = await at.mirror("pi");
    expect((await at.job("pi"))?.status).toMatchObject({ active: 1, startTime: mirror?.status?.startTime });
    await at.end("pi", 0);
    const finished = await at.untilFinished("pi");
    expect(conditionsOf(finished)).toEqual([
      "SuccessCriteriaMet=True/CompletionsReached",
      "Complete=True/CompletionsReached",
    ]);
    expect(finished.status).toMatchObject({ succeeded: 1, ready: 0, terminating: 0 });
    expect(finished.status?.completionTime).toBeDefined();
    expect(finished.metadata.finalizers ?? []).toEqual([]);
    await at.untilNothingIsLeft("pi");
    await at.until("an event says where it went", async () =>
      (await at.events("pi")).some(({ message }) => message === `Dispatched to cluster ${cluster} (epoch 1)`),
    );
  });

  it.concurrent.each(Object.keys(OUTCOMES))("A.2 %s is mirrored, the interim condition first", async (reason) => {
    const { spec, pod, act, interim, conditions, status } = OUTCOMES[reason] as Outcome;
    const at = await fleet.namespace(reason.toLowerCase());
    const worker = await everywhere(at, "j");
    await at.submit("j", { spec, ...(pod === undefined ? {} : { pod }) });
    await act?.(at);
    if (interim !== undefined) {
      await at.until("the interim condition", async () => conditionsOf(await at.job("j")).includes(interim));
      expect(conditionsOf(await at.job("j"))).toEqual([interim]);
      await at.release("j");
    }
    const finished = await at.untilFinished("j");
    expect(conditionsOf(finished)).toEqual(conditions);
    expect(finished.status).toMatchObject({ ...status, ready: 0, terminating: 0 });
    const mirror = await worker.get(await at.cluster("j"))?.until(isFinished);
    expect(finished.status).toEqual(mirror?.status);
  });

  it.concurrent("A.3 completed and failed indexes on the hub are the worker's, in the worker's order", async () => {
    const at = await fleet.namespace("indexes");
    const worker = await everywhere(at, "j");
    const hub = await at.follow("j");
    await at.submit("j", { spec: { ...indexed(5), backoffLimitPerIndex: 0 }, pod: forever });
    for (const [index, exitCode] of [
      [3, 0],
      [1, 3],
      [0, 0],
      [4, 3],
    ] as const) {
      await at.end("j", exitCode, index);
      await at.until(`index ${index} shows`, async () => {
        const { completedIndexes = "", failedIndexes = "" } = (await at.job("j"))?.status ?? {};
        return (exitCode === 0 ? completedIndexes : failedIndexes).split(",").includes(String(index));
      });
    }
    await at.end("j", 0, 2);
    expect((await at.untilFinished("j")).status).toMatchObject({ completedIndexes: "0,2,3", failedIndexes: "1,4" });
    const mirror = worker.get(await at.cluster("j"));
    await Promise.all([hub.until(isFinished), mirror?.until(isFinished)]);
    const [shown, had] = [hub.values(indexesOf), mirror?.values(indexesOf) ?? []];
    expect(shown.length).toBeGreaterThanOrEqual(5);
    expect(isInOrder(shown, had), `${shown.join(" | ")} of ${had.join(" | ")}`).toBe(true);
  });
}

const indexesOf = ({ status = {} }: Job): string => `${status.completedIndexes ?? ""};${status.failedIndexes ?? ""}`;

/** Follows the Job's mirror, by cluster: nobody knows yet to which one it comes. */
async function everywhere(at: FleetNamespace, name: string): Promise<Map<string, History>> {
  const histories = [...at.fleet.workers.keys()].map(
    async (cluster) => [cluster, await at.followOn(cluster, name)] as const,
  );
  return new Map(await Promise.all(histories));
}
