import type { Scheduler } from "./scheduler.ts";

export type RuleName =
  | "counted once"
  | "counters never fall"
  | "terminal never changes"
  | "epochs only grow"
  | "one cluster at a time"
  | "one pod for each index"
  | "status is valid"
  | "nothing is left behind"
  | "hub shows the worker's truth"
  | "strangers are not touched"
  | "assigned means known"
  | "runningJobs is right"
  | "silence is counted where Redis answers"
  | "no hot loop"
  | "finished stays finished"
  | "completed indexes stay completed"
  | "waiting Jobs that fit are placed"
  | "last words are stored"
  | "deletion ends"
  | "deleted means gone"
  | "shown pods end"
  | "every Job ends as it should"
  | "the world goes on";

export interface Violation {
  readonly rule: RuleName;
  readonly about: string;
  readonly what: string;
  readonly at: number;
}

const MANY = 50;

/** What must never be seen, and was: each rule once for each object. */
export class Violations {
  readonly list: Violation[] = [];
  readonly #scheduler: Scheduler;
  readonly #known = new Set<string>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  add(rule: RuleName, about: string, what: string): void {
    const key = `${rule}/${about}`;
    if (this.#known.has(key) || this.list.length >= MANY) return;
    this.#known.add(key);
    this.list.push({ rule, about, what, at: this.#scheduler.elapsed });
    this.#scheduler.trace.say(`VIOLATED "${rule}": ${about}: ${what}`);
  }
}
