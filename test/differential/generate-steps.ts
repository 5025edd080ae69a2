import type { JobSpec, PodFailurePolicyRule } from "@jobferry/shared/job/types.ts";
import { EXIT_CODES, generateSpec, POD_CONDITIONS } from "./generate-job.ts";
import { Random } from "./random.ts";
import type { Case, EditableSpec, Finish, JobStep, PodConditionPattern, PodStep, Step } from "./script.ts";

/** The case of a seed. */
export function generateCase(seed: number): Case {
  const random = new Random(seed);
  const spec = generateSpec(random);
  const steps = new StepGenerator(random, spec).script();
  return { seed, spec, steps, end: random.chance(0.75) ? "finish" : "leave" };
}

/** VU-8: allowed only while suspended, and then the next pods carry it. */
const EDITED_TEMPLATE = { metadata: { annotations: { note: "edited" } } };

/** How many failures of a script may be waited for in real time: 10 s, then 20 s (K-3). */
const REAL_BACKOFFS = 2;

class StepGenerator {
  readonly #random: Random;
  readonly #spec: JobSpec;
  #failures = 0;
  #ahead = false;
  #suspended: boolean;

  constructor(random: Random, spec: JobSpec) {
    this.#random = random;
    this.#spec = spec;
    this.#suspended = spec.suspend ?? false;
  }

  script(): Step[] {
    const steps: Step[] = [];
    const count = this.#random.int(4, 9);
    const restartAt = this.#random.chance(0.2) ? this.#random.int(0, count - 1) : -1;
    if (this.#suspended && this.#random.chance(0.8)) {
      steps.push(...this.#aroundResume());
    }
    for (let i = 0; i < count; i++) steps.push(...(i === restartAt ? [this.#restart()] : this.#step()));
    if (this.#spec.activeDeadlineSeconds === 25 && this.#random.chance(0.7)) steps.push({ do: "await-deadline" });
    return steps;
  }

  #aroundResume(): Step[] {
    const edit = this.#random.chance(0.3) ? this.#edit() : [];
    this.#suspended = false;
    return [...edit, { do: "edit", spec: { suspend: false } }];
  }

  #restart(): Step {
    const meanwhile = Array.from({ length: this.#random.int(0, 3) }, () => this.#step()).flat();
    return { do: "restart-controllers", meanwhile };
  }

  #step(): (PodStep | JobStep)[] {
    const kind = this.#random.weighted<"pod" | "edit" | "ownership" | "delete-job">([
      [74, "pod"],
      [20, "edit"],
      [7, "ownership"],
      [2, "delete-job"],
    ]);
    if (kind === "pod") return [this.#podStep()];
    if (kind === "edit") return this.#edit();
    if (kind === "ownership") return this.#ownership();
    return [{ do: "delete-job", propagation: this.#random.chance(0.8) ? "Foreground" : "Background" }];
  }

  #podStep(): PodStep {
    const random = this.#random;
    const pod = random.int(0, 3);
    const onFailure = this.#spec.template.spec.restartPolicy === "OnFailure";
    const verb = random.weighted<Exclude<PodStep["do"], "release" | "reclaim" | "adopt" | "rank">>([
      [3, "run"],
      [6, "ready"],
      [2, "unready"],
      [14, "succeed"],
      // Writes come one after the other: the first success may already meet the policy and end the other pods (SP-6).
      [this.#spec.successPolicy === undefined ? 3 : 0, "succeed-all"],
      [24, "fail"],
      [onFailure ? 20 : 1, "restart"],
      [7, "delete"],
      [6, "evict"],
      [4, "node-loss"],
      [9, "reap"],
      [2, "delete-finished"],
      [1, "flip"],
    ]);
    switch (verb) {
      case "succeed-all":
        return { do: verb };
      case "fail":
        return this.#fail(pod);
      case "restart":
        return { do: verb, pod, times: random.int(1, 3) };
      case "delete":
      case "evict":
      case "node-loss":
        return { do: verb, pod, finish: this.#finish() };
      case "reap": {
        const failed = random.chance(0.75);
        const finish = this.#finish();
        return {
          do: verb,
          pod,
          phase: failed ? "Failed" : "Succeeded",
          code: failed ? random.pick(EXIT_CODES) : 0,
          finish,
        };
      }
      case "run":
      case "ready":
      case "unready":
      case "succeed":
      case "delete-finished":
      case "flip":
        return { do: verb, pod };
    }
  }

  #fail(pod: number): PodStep {
    const random = this.#random;
    const finish = this.#finish();
    const rules = this.#spec.podFailurePolicy?.rules ?? [];
    const rule = rules[random.int(0, rules.length)];
    if (rule !== undefined) return { do: "fail", pod, ...this.#matching(rule), finish };
    const failure = { container: random.int(0, 2), code: random.pick(EXIT_CODES) };
    if (random.chance(0.75)) return { do: "fail", pod, ...failure, finish };
    const status = random.chance(0.8) ? ("True" as const) : ("False" as const);
    return { do: "fail", pod, ...failure, finish, condition: { type: random.pick(POD_CONDITIONS), status } };
  }

  /** A failure that this rule matches, unless an earlier rule does. */
  #matching(rule: PodFailurePolicyRule): { container: number; code: number; condition?: PodConditionPattern } {
    const random = this.#random;
    const { containers, initContainers = [] } = this.#spec.template.spec;
    const all = [...containers, ...initContainers];
    const { onExitCodes, onPodConditions } = rule;
    const named = all.findIndex(({ name }) => name === onExitCodes?.containerName);
    const container = named >= 0 ? named : random.int(0, all.length - 1);
    const listed = (code: number): boolean => onExitCodes?.values.includes(code) ?? true;
    const codes = EXIT_CODES.filter((code) => listed(code) === (onExitCodes?.operator !== "NotIn"));
    const code = codes[random.int(0, codes.length - 1)] ?? 1;
    const pattern = onPodConditions?.[0];
    if (pattern === undefined) return { container, code };
    return { container, code, condition: { type: pattern.type, status: pattern.status === "True" ? "True" : "False" } };
  }

  #finish(): Finish {
    const finish = this.#random.weighted<Finish>([
      [12, "past"],
      [this.#failures < REAL_BACKOFFS ? 3 : 0, "now"],
      [this.#failures === 0 && !this.#ahead ? 3 : 0, "ahead"],
    ]);
    this.#failures++;
    this.#ahead ||= finish === "ahead";
    return finish;
  }

  #ownership(): PodStep[] {
    const random = this.#random;
    const pod = random.int(0, 3);
    // One pod too many, and which of several equally progressed ones goes is not defined (RM-3.7): make them differ first.
    const rank = { do: "rank" as const, shuffle: random.int(0, 1_000_000) };
    if (random.chance(0.5)) {
      return [rank, { do: "adopt", index: random.int(0, 4), phase: random.chance(0.6) ? "Pending" : "Succeeded" }];
    }
    return random.chance(0.4) ? [{ do: "release", pod }, rank, { do: "reclaim", pod }] : [{ do: "release", pod }];
  }

  #edit(): (PodStep | JobStep)[] {
    const field = this.#random.weighted<Exclude<keyof EditableSpec, "template">>([
      [5, "parallelism"],
      [this.#spec.completionMode === "Indexed" ? 6 : 0, "completions"],
      [6, "suspend"],
      [3, "backoffLimit"],
      [this.#spec.backoffLimitPerIndex === undefined ? 0 : 5, "maxFailedIndexes"],
      [1, "activeDeadlineSeconds"],
      [this.#spec.podFailurePolicy === undefined ? 3 : 0, "podReplacementPolicy"],
    ]);
    const rank: PodStep[] = field === "parallelism" ? [{ do: "rank", shuffle: this.#random.int(0, 1_000_000) }] : [];
    const edit: JobStep = { do: "edit", spec: this.#change(field) };
    if (field !== "suspend" || !this.#suspended || this.#random.chance(0.3)) return [...rank, edit];
    const template: JobStep[] = this.#random.chance(0.4) ? [{ do: "edit", spec: { template: EDITED_TEMPLATE } }] : [];
    this.#suspended = false;
    return [edit, ...template, { do: "edit", spec: { suspend: false } }];
  }

  #change(field: Exclude<keyof EditableSpec, "template">): Partial<EditableSpec> {
    const random = this.#random;
    switch (field) {
      case "parallelism":
        return {
          parallelism: random.weighted([
            [1, 0],
            [4, 1],
            [4, 2],
            [3, 3],
            [2, 4],
          ]),
        };
      case "completions": {
        const size = random.weighted([
          [1, 0],
          [4, 1],
          [4, 2],
          [4, 3],
          [4, 5],
        ]);
        return { completions: size, parallelism: size };
      }
      case "suspend":
        this.#suspended = !this.#suspended;
        return { suspend: this.#suspended };
      case "backoffLimit":
        return { backoffLimit: random.int(0, 3) };
      case "maxFailedIndexes":
        return { maxFailedIndexes: random.int(0, 2) };
      case "activeDeadlineSeconds":
        return {
          activeDeadlineSeconds: random.weighted([
            [2, 1],
            [1, 3600],
          ]),
        };
      case "podReplacementPolicy":
        return { podReplacementPolicy: random.chance(0.5) ? "Failed" : "TerminatingOrFailed" };
    }
  }
}
