import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { events } from "@jobferry/shared/kube/resources.ts";
import { differences } from "./difference.ts";
import { explanationOf } from "./explained.ts";
import type { Trace } from "./observer.ts";
import { deadlineOf, unsettled } from "./quiet.ts";
import type { RestartGate } from "./restart-gate.ts";
import { podsInRole } from "./roles.ts";
import { type Case, describeStep, type JobStep, type PodStep, type Step } from "./script.ts";
import { pause, type Side, type Stage, until } from "./side.ts";
import { type Blur, describeCondition, snapshot } from "./snapshot.ts";
import { playStep } from "./steps.ts";

/** Longer than any wait a controller makes by itself: 1 s batches and the first API retries (K-1, K-2). */
const QUIET_MS = 1_500;
/** Longer than the back-offs a script waits for: 40 s (K-3), PodGC's 20 s, and a loaded machine. */
const PATIENCE_MS = 80_000;
/** Steps keep this distance from anything that is about to happen by the clock. */
const MARGIN_MS = 8_000;

const POD_NEWS = ["SuccessfulCreate", "SuccessfulDelete"];

/** SU-10, CD-9 */
function impliedEvents({ conditions }: Trace): Set<string> {
  const announced = conditions.flatMap(({ type, status, reason = "" }) => {
    if (type === "Suspended") return [status === "True" ? "Suspended" : "Resumed"];
    if (type === "Complete") return ["Completed"];
    return type === "Failed" ? [reason] : [];
  });
  return new Set(announced);
}

export interface Verdict {
  seed: number;
  /** Empty: the sides agreed at every step and at the end. */
  disagreement: string[];
  /** Disagreements that explained.ts allows, by behaviour id. */
  explained: string[];
  /** Steps that found something to act on, by verb. */
  played: string[];
  /** The conditions the Job showed, for the coverage table. */
  reasons: string[];
  /** Both sides agreed, but on a state that has work left and will not change; the script ended there. */
  stuck: string[];
}

/** One case on both sides, in lockstep: no step before both sides are quiet and show the same. */
export class Match {
  readonly #case: Case;
  readonly #stage: Stage;
  readonly #sides: readonly [Side, Side];
  readonly #gate: RestartGate | undefined;
  readonly #blur: Blur = { statusOfDeletedJob: false, failJobMessage: false };
  readonly #verdict: Verdict;
  #holdUntil = 0;
  #step = 0;
  #gatePassed = false;

  constructor(play: Case, stage: Stage, sides: readonly [Side, Side], gate: RestartGate | undefined) {
    this.#case = play;
    this.#stage = stage;
    this.#sides = sides;
    this.#gate = gate;
    this.#verdict = { seed: play.seed, disagreement: [], explained: [], played: [], reasons: [], stuck: [] };
  }

  async play(): Promise<Verdict> {
    try {
      await this.#both((side) => side.createJob(this.#case.spec));
      if (await this.#agree("creation")) await this.#playScript();
      if (this.#unchallenged) await this.#compareHistory();
    } catch (error) {
      this.#verdict.disagreement.push(`step ${this.#step}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      if (!this.#gatePassed) this.#gate?.skip();
    }
    const [left] = this.#sides;
    this.#verdict.reasons = left.trace.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
    return this.#verdict;
  }

  async #playScript(): Promise<void> {
    for (const step of this.#case.steps) {
      this.#step++;
      if (!(await this.#keepDistance())) return;
      if (step.do === "restart-controllers") await this.#restart(step);
      else await this.#playOnBoth(step);
      if (!(await this.#agree(describeStep(step)))) return;
    }
    if (this.#case.end === "finish") await this.#finish();
  }

  async #restart(step: Extract<Step, { do: "restart-controllers" }>): Promise<void> {
    if (
      step.meanwhile.filter(({ do: verb }) => verb === "fail" || verb === "evict" || verb === "node-loss").length > 1
    ) {
      this.#blur.failJobMessage = true;
    }
    this.#gatePassed = true;
    this.#verdict.played.push(step.do);
    await this.#gate?.pass(async () => {
      for (const inner of step.meanwhile) await this.#playOnBoth(inner);
    });
  }

  async #playOnBoth(step: PodStep | JobStep): Promise<void> {
    if (step.do === "await-deadline") await this.#passDeadline(Number.POSITIVE_INFINITY);
    if (step.do === "delete-job") this.#blur.statusOfDeletedJob = true;
    const at = Date.now();
    const [left, right] = await this.#both((side) => playStep(side, step, at));
    if (left !== right) this.#disagree(describeStep(step), [`outcome: ${left} | ${right}`]);
    if (left === "done" || /^[1-9]/.test(left)) this.#verdict.played.push(step.do);
    if ("finish" in step && step.finish === "ahead") this.#holdUntil = at + 30_000;
  }

  /** Pods end until the Job does. */
  async #finish(): Promise<void> {
    for (let round = 0; round < 14; round++) {
      this.#step++;
      if (!(await this.#keepDistance())) return;
      const next = this.#nextToFinish();
      if (next === undefined) return;
      await this.#playOnBoth(next);
      if (!(await this.#agree(`finishing: ${describeStep(next)}`))) return;
    }
  }

  #nextToFinish(): PodStep | JobStep | undefined {
    const { world } = this.#sides[0];
    const { job } = world;
    if (podsInRole(world, "terminating").length > 0) {
      return { do: "reap", pod: 0, phase: "Failed", code: 137, finish: "past" };
    }
    if (job === undefined || isFinished(job)) return undefined;
    if (job.spec.suspend) return { do: "edit", spec: { suspend: false } };
    if (job.spec.parallelism === 0) return { do: "edit", spec: { parallelism: 2 } };
    if (podsInRole(world, "active").length === 0) return undefined;
    const oneByOne = job.spec.successPolicy !== undefined || job.spec.podFailurePolicy !== undefined;
    return oneByOne ? { do: "succeed", pod: 0 } : { do: "succeed-all" };
  }

  /** A deadline that passes while a step is under way would hit the sides at different moments: let it pass first. */
  #keepDistance(): Promise<boolean> {
    return this.#passDeadline(MARGIN_MS);
  }

  async #passDeadline(withinMs: number): Promise<boolean> {
    const deadlines = this.#sides.map(({ world: { job } }) =>
      job === undefined || job.spec.suspend || isFinished(job) ? undefined : deadlineOf(job),
    );
    const next = Math.min(...deadlines.map((deadline) => deadline ?? Number.POSITIVE_INFINITY));
    const left = next - Date.now();
    if (left > Math.min(withinMs, 60_000)) return true;
    await until(() => Date.now() > next + 1_000, 70_000, "the deadline did not pass");
    return this.#agree("the deadline passing");
  }

  /** Waits until both sides are quiet and equal, or records how they differ. */
  async #agree(after: string): Promise<boolean> {
    if (!this.#unchallenged) return false;
    const patience = performance.now() + PATIENCE_MS;
    for (;;) {
      await pause(100);
      const impatient = performance.now() > patience;
      const quietFor = performance.now() - Math.max(...this.#sides.map(({ trace }) => trace.lastChange));
      if (quietFor < QUIET_MS && !impatient) continue;
      const moment = { now: Date.now(), holding: Date.now() < this.#holdUntil - MARGIN_MS };
      const work = this.#sides.map(({ world }) => unsettled(world, moment));
      if (work.flat().length > 0 && !impatient) continue;
      const unequal = this.#compareNow();
      if (unequal.length > 0 && !impatient) continue;
      if (unequal.length > 0) {
        const [builtIn, ours] = this.#sides.map(({ world: { job, pods } }, i) => ({ job, pods, work: work[i] ?? [] }));
        const explanation = builtIn && ours && explanationOf({ builtIn, ours });
        if (explanation !== undefined) {
          this.#verdict.explained.push(explanation);
          return false;
        }
        const left = this.#sides.map(
          ({ name }, i) => `${name} has left to do: ${(work[i] ?? []).join("; ") || "nothing"}`,
        );
        this.#disagree(after, [...unequal, ...left]);
        return false;
      }
      for (const side of this.#sides) side.markEpoch(this.#step);
      if (work.flat().length === 0) return true;
      this.#verdict.stuck.push(`step ${this.#step}, ${after}: ${work[0]?.join("; ")}`);
      return false;
    }
  }

  get #unchallenged(): boolean {
    return this.#verdict.disagreement.length + this.#verdict.explained.length === 0;
  }

  #compareNow(): string[] {
    const [left, right] = this.#sides.map(({ world, trace }) => ({
      ...snapshot(world, this.#blur),
      podsEver: trace.podUids.size,
    }));
    return differences(left, right);
  }

  async #compareHistory(): Promise<void> {
    const released = this.#sides.map(({ trace }) => [...trace.halfReleased].length);
    this.#disagree("releases in two writes (AD-3)", differences([0, 0], released));
    if (this.#blur.statusOfDeletedJob) return;
    const [left, right] = this.#sides.map(({ trace }) =>
      trace.conditions.map((condition) => describeCondition(condition, this.#blur)),
    );
    this.#disagree("the conditions in the order they were seen", differences(left, right));
    this.#disagree("the reasons of events", await this.#compareEvents());
  }

  /**
   * Events are written late, and the built-in controller drops some when the machine is slow: ours must have all that it
   * has and all that the conditions call for (section 23), and nothing beyond that but news of pods.
   */
  async #compareEvents(): Promise<string[]> {
    const due = impliedEvents(this.#sides[1].trace);
    const patience = performance.now() + PATIENCE_MS;
    for (;;) {
      const [left, right] = await this.#both((side) => this.#eventReasons(side));
      const missing = [...left, ...due].filter((event) => !right.has(event)).map((event) => `${event} | absent`);
      const known = new Set([...left, ...due, ...POD_NEWS]);
      const surplus = [...right].filter((event) => !known.has(event)).map((event) => `absent | ${event}`);
      if (missing.length + surplus.length === 0 || performance.now() > patience) return [...missing, ...surplus];
      await pause(500);
    }
  }

  async #eventReasons(side: Side): Promise<Set<string>> {
    const { items } = await this.#stage.api.list(events, { namespace: side.namespace });
    return new Set(
      items.filter(({ involvedObject }) => involvedObject.kind === "Job").map(({ reason }) => reason ?? ""),
    );
  }

  #disagree(after: string, lines: string[]): void {
    if (lines.length === 0) return;
    const [left, right] = this.#sides;
    this.#verdict.disagreement.push(
      `step ${this.#step}, ${after} (${left.name} | ${right.name}):`,
      ...lines.slice(0, 30),
    );
  }

  #both<T>(act: (side: Side) => Promise<T>): Promise<[T, T]> {
    return Promise.all([act(this.#sides[0]), act(this.#sides[1])]);
  }
}
