/**
 * Performs what the core has decided, one API call per decision, and reports what became of it. No rule lives here, only
 * the order that keeps memory honest: what we are about to cause is remembered before the call, and taken back when the
 * call fails, so that an event can never overtake its expectation.
 */
import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isInvalid, isNamespaceTerminating, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { leanPods } from "../../lean-pods.ts";
import {
  adoptionPatch,
  asAdopted,
  type ClaimPlan,
  finalizerPatch,
  refusesAdoption,
  releasePatch,
} from "../core/claim.ts";
import { nothingScaled, type RemovalResult, type ScaleResult } from "../core/counts.ts";
import { expectCreations, expectDeletions } from "../core/expectations.ts";
import type { ScalePlan } from "../core/scale.ts";
import { withStatus } from "../core/status.ts";
import type { EventNote, PodFacts } from "../core/types.ts";
import type { JobMemory } from "../memory.ts";
import type { JobMetrics } from "../metrics.ts";
import { slowStart } from "./slow-start.ts";
import { ShuttingDown, type WriteGate } from "./write-gate.ts";

export interface ExecutorOptions {
  api: KubeApi;
  clock: Clock;
  gate: WriteGate;
  metrics: JobMetrics;
  emit(job: Job, note: EventNote): void;
}

export interface Scaled {
  readonly result: ScaleResult;
  readonly error: unknown;
}

const keyOfPod = ({ metadata: { namespace, name = "" } }: Pod): ObjectKey => ({
  ...(namespace !== undefined && { namespace }),
  name,
});

const keyOfJob = ({ metadata: { namespace, name = "" } }: Job): ObjectKey => ({
  ...(namespace !== undefined && { namespace }),
  name,
});

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** AD-3 to AD-6: the claimed pods, adopted ones included. */
  async claim(job: Job, plan: ClaimPlan, memory: JobMemory): Promise<readonly Pod[]> {
    if (plan.adopt.length + plan.release.length === 0) return plan.claimed;
    const errors: unknown[] = [];
    const refusal = plan.adopt.length > 0 ? await this.#adoptionRefusal(job) : undefined;
    const adoptions = plan.adopt.map(async (pod) => {
      if (refusal !== undefined) throw refusal;
      return (await this.#patchPod(pod, adoptionPatch(job, pod), memory)) ? asAdopted(job, pod) : undefined;
    });
    const releases = plan.release.map(async (pod) => {
      await this.#patchPod(pod, releasePatch(job, pod), memory).catch((error: unknown) => {
        if (!isInvalid(error)) throw error;
      });
    });
    const adopted: Pod[] = [];
    for (const settled of await Promise.allSettled(adoptions)) {
      if (settled.status === "rejected") errors.push(settled.reason);
      else if (settled.value !== undefined) adopted.push(settled.value);
    }
    for (const settled of await Promise.allSettled(releases))
      if (settled.status === "rejected") errors.push(settled.reason);
    if (errors.length > 0) throw new AggregateError(errors, `claiming pods: ${sentence(errors[0])}`);
    return [...plan.claimed, ...adopted];
  }

  async scale(job: Job, plan: ScalePlan, memory: JobMemory): Promise<Scaled> {
    switch (plan.kind) {
      case "none":
      case "wait":
        return { result: nothingScaled, error: undefined };
      case "create":
        return await this.#createPods(job, plan, memory);
      case "remove":
        memory.expectations = expectDeletions(plan.pods.length, this.#options.clock.monotonic());
        return await this.#deletePods(plan.pods, (facts, errors) => this.#removePod(job, facts, memory, errors));
      case "terminate":
        return await this.#deletePods(plan.pods, (facts, errors) => this.#terminatePod(job, facts, errors));
    }
  }

  /** SW-1 */
  async writeStatus(job: Job, status: JobStatus, memory: JobMemory): Promise<Job> {
    const { api, gate } = this.#options;
    const body = withStatus(job, status);
    const stored = await gate.run("status", () => api.replace(jobs, keyOfJob(job), body, { subresource: "status" }));
    memory.wroteJob(stored.metadata.resourceVersion);
    return stored;
  }

  /** TK-15: the UIDs whose finalizer is gone, and the first error. */
  async release(selected: readonly PodFacts[], memory: JobMemory): Promise<{ released: Set<string>; error: unknown }> {
    for (const { uid } of selected) memory.awaited.add(uid);
    const released = new Set<string>();
    let failure: unknown;
    const release = async ({ pod, uid }: PodFacts): Promise<void> => {
      try {
        const patched = await this.#patchPod(pod, finalizerPatch, memory);
        // Nobody will tell us about a pod that is not there any more.
        if (!patched) memory.awaited.delete(uid);
        released.add(uid);
      } catch (error) {
        memory.awaited.delete(uid);
        failure ??= error;
      }
    };
    await Promise.all(selected.map(release));
    return { released, error: failure };
  }

  /** OR-2, OR-3 */
  async releaseOrphan(pod: Pod): Promise<void> {
    await this.#patchPod(pod, finalizerPatch, undefined);
  }

  /** AD-5 */
  async #adoptionRefusal(job: Job): Promise<Error | undefined> {
    try {
      const reason = refusesAdoption(job, await this.#options.api.get(jobs, keyOfJob(job)));
      return reason === undefined ? undefined : new Error(`cannot adopt pods: ${reason}`);
    } catch (error) {
      return new Error(`cannot adopt pods: reading the Job failed: ${sentence(error)}`, { cause: error });
    }
  }

  /** False when the pod is gone. */
  async #patchPod(pod: Pod, body: object, memory: JobMemory | undefined): Promise<boolean> {
    const { api, gate } = this.#options;
    try {
      const patched = await gate.run("pod", () => api.patch(leanPods, keyOfPod(pod), { type: "strategic", body }));
      memory?.wrotePod(patched.metadata.resourceVersion);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #createPods(job: Job, plan: ScalePlan & { kind: "create" }, memory: JobMemory): Promise<Scaled> {
    const { clock, metrics } = this.#options;
    memory.expectations = expectCreations(plan.pods.length, clock.monotonic());
    const errors: unknown[] = [];
    const { failed, skipped } = await slowStart(plan.pods, (pod) => this.#createPod(job, pod, memory, errors));
    memory.creationsSeen(skipped);
    metrics.podsCreated(plan.reason, plan.pods.length - skipped, failed);
    return { result: { removals: [], notCreated: failed + skipped }, error: errors[0] };
  }

  /** PC-12, PC-13 */
  async #createPod(job: Job, pod: Pod, memory: JobMemory, errors: unknown[]): Promise<"done" | "failed"> {
    const { api, gate, emit } = this.#options;
    try {
      const created = await gate.run("create", () => api.create(leanPods, job.metadata.namespace, pod));
      memory.wrotePod(created.metadata.resourceVersion);
      emit(job, { type: "Normal", reason: "SuccessfulCreate", message: `Created pod: ${created.metadata.name}` });
      return "done";
    } catch (error) {
      if (isNamespaceTerminating(error)) return "done";
      if (!(error instanceof ShuttingDown))
        emit(job, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${sentence(error)}` });
      memory.creationsSeen(1);
      errors.push(error);
      return "failed";
    }
  }

  async #deletePods(
    selected: readonly PodFacts[],
    remove: (facts: PodFacts, errors: unknown[]) => Promise<RemovalResult>,
  ): Promise<Scaled> {
    const errors: unknown[] = [];
    const removals = await Promise.all(selected.map((facts) => remove(facts, errors)));
    return { result: { removals, notCreated: 0 }, error: errors[0] };
  }

  /** RM-1, SX-5 */
  async #removePod(job: Job, facts: PodFacts, memory: JobMemory, errors: unknown[]): Promise<RemovalResult> {
    try {
      if (facts.finalizer && !(await this.#patchPod(facts.pod, finalizerPatch, memory))) {
        memory.deletionsSeen(1);
        return { facts, deleted: true, finalizerKept: true };
      }
    } catch (error) {
      memory.deletionsSeen(1);
      errors.push(new Error(`removing the tracking finalizer: ${sentence(error)}`, { cause: error }));
      return { facts, deleted: false, finalizerKept: true };
    }
    const answer = await this.#deletePod(job, facts, errors);
    if (answer !== "deleted") memory.deletionsSeen(1);
    return { facts, deleted: answer !== "failed", finalizerKept: false };
  }

  /** CD-8, SX-7 */
  async #terminatePod(job: Job, facts: PodFacts, errors: unknown[]): Promise<RemovalResult> {
    const answer = await this.#deletePod(job, facts, errors);
    return { facts, deleted: answer !== "failed", finalizerKept: false };
  }

  /** RM-8, CT-14 */
  async #deletePod(job: Job, { pod }: PodFacts, errors: unknown[]): Promise<"deleted" | "gone" | "failed"> {
    const { api, gate, emit } = this.#options;
    try {
      await gate.run("pod", () => api.delete(leanPods, keyOfPod(pod)));
      emit(job, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata.name}` });
      return "deleted";
    } catch (error) {
      if (isNotFound(error)) return "gone";
      if (!(error instanceof ShuttingDown))
        emit(job, { type: "Warning", reason: "FailedDelete", message: `Error deleting: ${sentence(error)}` });
      errors.push(error);
      return "failed";
    }
  }
}
