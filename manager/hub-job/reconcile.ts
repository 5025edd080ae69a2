import type { Job } from "@jobferry/shared/job/types.ts";
import { ApiError, isConflict, isInvalid, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { ProcessResult } from "@jobferry/shared/kube/workqueue.ts";
import { ProtocolError } from "@jobferry/shared/protocol/errors.ts";
import {
  ASSIGNED_QUEUE,
  CLUSTER,
  GRANT,
  LEAVING,
  MESSAGE,
  PREEMPTED,
  RETRY,
  STOP_AFTER,
  TAKEN,
} from "@jobferry/shared/protocol/marks.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import type { JobHealth } from "../clusters/job-health.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { cut, type HubJobs } from "../hub/jobs.ts";
import type { Assignment } from "../hub/phase.ts";
import { nextPreempted } from "../hub/preempted.ts";
import type { Ledger } from "../placement/ledger.ts";
import { shownSentence } from "../pods/settings.ts";
import {
  changedSince,
  formatTaken,
  mayHaveRun,
  onChangeOf,
  usedSentence,
  waitsSentence,
} from "../references/changes.ts";
import { type HubReferences, TRY_AGAIN_MS } from "../references/hub-references.ts";
import { listAgain } from "../references/list-again.ts";
import { type Departure, decide, type Step } from "./decide.ts";
import { type FactSources, gatherFacts } from "./facts.ts";
import { storeStatus } from "./status-write.ts";
import { askedBackText, departureText, Telling, type TellingOptions } from "./telling.ts";

/** What the hub refuses once it refuses until the Job is changed, and that is seen at once. */
const NOT_ACCEPTED_MS = 10 * 60_000;
/** Somebody was faster. The watch brings the Job back as soon as it shows what they wrote. */
const CONFLICT_MS = 1_000;
/** Somebody may put contents back as they were; a Job that is edited to go on does so at once. */
const CHANGED_BACK_MS = 30_000;
/** Each may have hundreds of names and hashes. */
const MAX_LISTED = 512;
/** More steps in a row than any Job takes. */
const MAX_STEPS = 12;

const FORGED = "The marks of an assignment on this Job were not written by the manager; they are taken away";

export interface ReconcilerOptions extends FactSources, TellingOptions {
  readonly jobs: HubJobs;
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly references: Pick<HubReferences, "list">;
  readonly clock: Clock;
  readonly deletionBoundMs: number;
  /** How many of its pods the hub shows at most; 0: none. */
  readonly shadowPodsOf?: ((job: Job) => number) | undefined;
  /** How long the end of this Job is kept back: its pods are shown to have ended first, as at home. */
  readonly endHeldMs?: ((uid: HubUid, job: Job) => number) | undefined;
  /** Hears how Jobs fare on their clusters. */
  readonly health?: Pick<JobHealth, "reported" | "assigned"> | undefined;
}

/** Whether the Job is to be decided on again, or else when to come back. */
type Next = "again" | ProcessResult;

/**
 * Brings one hub Job to where it should be, step by step: gather the facts, decide, perform (the phases are described in
 * hub/phase.ts, the steps in decide.ts). The only code that writes a hub Job, and never twice at a time for one Job. Called
 * after every change of the Job, its cluster or its reports; a step that has been taken before changes nothing.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #tell: Telling;
  /** Of Jobs that were assigned last and have not begun, for the deliveries that follow: read once, not each time. */
  readonly #listed = new LruMap<HubUid, readonly ListedReference[]>(MAX_LISTED);

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#tell = new Telling(options);
  }

  async reconcile(uid: HubUid): Promise<ProcessResult> {
    const { jobs, clock, deletionBoundMs } = this.#options;
    for (let count = 0; count < MAX_STEPS; count++) {
      const job = jobs.byUid(uid);
      if (job === undefined) return this.#forget(uid);
      const step = decide(job, gatherFacts(job, this.#options), { now: clock.now(), deletionBoundMs });
      try {
        const next = await this.#perform(uid, job, step);
        if (next !== "again") return next;
      } catch (error) {
        return this.#failed(uid, job, step, error);
      }
    }
    return { requeueAfterMs: CONFLICT_MS };
  }

  /** The hub has other contents than the cluster was told: what travels with the Job is read again. */
  listAnew(uid: HubUid): void {
    this.#listed.delete(uid);
  }

  async #perform(uid: HubUid, job: Job, step: Step): Promise<Next> {
    const { jobs, inbox, outbox } = this.#options;
    switch (step.step) {
      case "forget":
        return this.#forget(uid);
      case "rest":
        return requeue(step.againMs);
      case "disown":
        await jobs.disown(job, NO_MARKS, "waiting: marks of an assignment that were not the manager's were removed");
        this.#tell.warn(job, "AssignmentForged", FORGED);
        return "again";
      case "show-suspended":
        await jobs.writeStatus(job, step.status);
        return;
      case "assign":
        return this.#assign(uid, job, step);
      case "admit":
        return this.#admit(uid, job, step.assignment);
      case "explain":
        return this.#explain(job, step);
      case "store-status":
        return this.#storeStatus(uid, job, step);
      case "refuse-status":
        this.#tell.statusRefused(job, step.report, step.problems);
        inbox.done(uid, { status: step.report });
        return "again";
      case "drop-report":
        if (step.why !== undefined) this.#tell.reportDropped(uid, step.report, step.why);
        inbox.done(uid, { status: step.report });
        return "again";
      case "drop-answer":
        inbox.done(uid, { answer: step.answer });
        return "again";
      case "adopt":
        await jobs.adopt(job, step.assignment);
        this.#tell.adopted(job, step.assignment);
        inbox.done(uid, { answer: step.answer });
        outbox.forget(uid);
        return "again";
      case "grant":
        await jobs.adopt(job, step.assignment);
        return "again";
      case "ask-back":
        await jobs.askBack(job, step.assignment, step.leaving, askedBackText(step.leaving, step.assignment.cluster));
        return "again";
      case "drop-stuck":
        inbox.done(uid, { stuck: step.stuck });
        return "again";
      case "unassign":
        return this.#unassign(uid, job, step.assignment, step.why);
      case "deliver":
        return this.#deliver(uid, job, step);
      case "finish":
        inbox.forget(uid);
        outbox.forget(uid);
        if (step.dropFinalizer) await jobs.dropFinalizer(job);
        return;
      case "let-go":
        await jobs.dropFinalizer(job);
        this.#tell.letGo(job);
        return;
    }
  }

  /** The assignment is stored first; the delivery follows from it. */
  async #assign(uid: HubUid, job: Job, { assignment, note }: Extract<Step, { step: "assign" }>): Promise<Next> {
    const { cluster, epoch } = assignment;
    const { references, taken, problem } = await this.#options.references.list(job, assignment.queue);
    if (problem !== undefined) return this.#hold(uid, job, problem, TRY_AGAIN_MS);
    const changed = epoch === 1 ? [] : changedSince(job.metadata.annotations?.[TAKEN], taken);
    if (changed.length > 0 && onChangeOf(job, assignment.queue, this.#options.queues) === "Wait")
      return this.#hold(uid, job, waitsSentence(changed, job), CHANGED_BACK_MS);
    if (references.length > 0) this.#listed.set(uid, references);
    const also = [note, shownSentence(job, this.#options.shadowPodsOf?.(job) ?? 0)]
      .flatMap((sentence) => (sentence === undefined ? [] : `; ${sentence}`))
      .join("");
    const marks: Record<string, string> = taken === undefined ? {} : { [TAKEN]: formatTaken(taken) };
    await this.#options.jobs.assign(job, assignment, `dispatched to ${cluster}${also}`, marks);
    this.#tell.priority(job, note);
    if (changed.length > 0) this.#tell.referencesChanged(job, usedSentence(changed, job));
    this.#tell.assigned(job, assignment);
    this.#options.health?.assigned(cluster, uid);
    return "again";
  }

  /** Booked already: whether it is stored or not, the books follow what is stored. */
  async #admit(uid: HubUid, job: Job, assignment: Assignment): Promise<Next> {
    const { jobs, placement } = this.#options;
    try {
      await jobs.admit(job, assignment, `dispatched to ${assignment.cluster}`);
    } finally {
      placement.grown(uid, jobs.byUid(uid));
    }
    return "again";
  }

  async #explain(job: Job, step: Extract<Step, { step: "explain" }>): Promise<Next> {
    const { message, never, held = false, note, againMs } = step;
    await this.#options.jobs.say(job, message);
    this.#tell.waits(job, message, { never, held });
    this.#tell.priority(job, note);
    return requeue(againMs);
  }

  async #storeStatus(uid: HubUid, job: Job, step: Extract<Step, { step: "store-status" }>): Promise<Next> {
    const { jobs, inbox, outbox } = this.#options;
    const { report, status, finished } = step;
    const heldMs = finished ? (this.#options.endHeldMs?.(uid, job) ?? 0) : 0;
    if (heldMs > 0) return { requeueAfterMs: heldMs };
    const changed = (what: string): void => this.#tell.statusChanged(job, report, what);
    const written = await storeStatus(jobs, job, status, report, finished, changed);
    inbox.done(uid, { status: report });
    this.#listed.delete(uid);
    if (written !== job) {
      this.#tell.progress(job, written, report, finished);
      this.#options.health?.reported(report.cluster, job, written);
    }
    if (finished && written !== job) {
      // Lost messages are made up for when the agent's inventory still names the mirror.
      await outbox.release(uid, report).catch((error: unknown) => this.#tell.releaseNotSent(uid, error));
    }
    return "again";
  }

  async #unassign(uid: HubUid, job: Job, assignment: Assignment, why: Departure): Promise<Next> {
    const { jobs, inbox, outbox, ledger, clock } = this.#options;
    const { cluster } = assignment;
    const hasUsedThem = why.kind !== "refused" || mayHaveRun(job);
    const marks = {
      ...(why.kind === "preempted" ? { [PREEMPTED]: nextPreempted(job, clock.now()) } : {}),
      ...(hasUsedThem ? {} : { [TAKEN]: null }),
    };
    await jobs.unassign(job, assignment, departureText(why, cluster), marks);
    inbox.forget(uid);
    this.#listed.delete(uid);
    outbox.forget(uid);
    if (why.kind === "refused" || why.kind === "unschedulable") {
      const reason = why.kind === "refused" ? why.reason : "Unschedulable";
      ledger.refuse(uid, cluster, reason, why.text, clock.monotonic(), job.metadata.annotations?.[RETRY]);
    }
    this.#tell.left(job, assignment, why);
    if (why.kind !== "lost" && why.kind !== "removed")
      await outbox.release(uid, assignment).catch((error: unknown) => this.#tell.releaseNotSent(uid, error));
    return "again";
  }

  /** What should travel with it cannot be read, or is not what it was: its room is given to others meanwhile. */
  async #hold(uid: HubUid, job: Job, problem: string, againMs: number): Promise<Next> {
    const { jobs, placement } = this.#options;
    placement.notStored(uid);
    const message = `waiting: ${problem}`;
    if (job.metadata.annotations?.[MESSAGE] !== cut(message)) {
      await jobs.say(job, message);
      this.#tell.warn(job, "DispatchFailed", message);
    }
    return requeue(againMs);
  }

  async #deliver(
    uid: HubUid,
    job: Job,
    { assignment, desired, againMs, but }: Extract<Step, { step: "deliver" }>,
  ): Promise<Next> {
    const { outbox } = this.#options;
    const listed = this.#listed.get(uid);
    let problem: string | undefined;
    const list = async () => {
      if (listed !== undefined) return listed;
      const again = await listAgain(job, assignment.queue, this.#options);
      if ("references" in again) return again.references;
      problem = again.problem;
      return undefined;
    };
    try {
      const sent = await outbox.deliver(job, assignment, desired, list);
      if (sent) this.#tell.delivered(job, assignment, desired.desired);
      if (sent && but !== undefined) this.#tell.surprised(job, assignment, but);
      if (problem !== undefined) {
        const text = `Cluster ${assignment.cluster} is not told of this Job yet: ${problem}`;
        this.#tell.warn(job, "DispatchFailed", text);
        return requeue(TRY_AGAIN_MS);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // Trying again cannot help: the Job has grown too large for a message since it was assigned.
      const text = `Cluster ${assignment.cluster} cannot be told of this Job: ${error.message}`;
      this.#tell.warn(job, "DispatchFailed", text);
    }
    return requeue(againMs);
  }

  /** What is stored decides, and that is looked at again. */
  #failed(uid: HubUid, job: Job, { step }: Step, error: unknown): ProcessResult {
    this.#listed.delete(uid);
    if (step === "assign") this.#options.placement.notStored(uid);
    if (isConflict(error)) return { requeueAfterMs: CONFLICT_MS };
    // Gone already: somebody took our finalizer away, or our first write was applied and not answered.
    if (isNotFound(error)) return;
    if (step === "assign" && isNotAccepted(error)) {
      const text = `The hub does not accept the marks of dispatch on this Job: ${error.message}`;
      this.#tell.warn(job, "DispatchFailed", text);
      return { requeueAfterMs: NOT_ACCEPTED_MS };
    }
    throw error;
  }

  #forget(uid: HubUid): void {
    this.#listed.delete(uid);
    this.#options.inbox.forget(uid);
    this.#options.outbox.forget(uid);
  }
}

const NO_MARKS = { [CLUSTER]: null, [ASSIGNED_QUEUE]: null, [STOP_AFTER]: null, [GRANT]: null, [LEAVING]: null };

const requeue = (afterMs: number | undefined): ProcessResult =>
  afterMs === undefined ? undefined : { requeueAfterMs: afterMs };

/** The annotations or the Job as a whole have no room left for ours. */
const isNotAccepted = (error: unknown): error is ApiError =>
  error instanceof ApiError && (isInvalid(error) || error.code === 413 || /request is too large/.test(error.message));
