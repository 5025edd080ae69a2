import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { MinHeap } from "@jobferry/shared/runtime/min-heap.ts";
import type { Random } from "../../differential/random.ts";
import type { Trace } from "./trace.ts";

/** Whose turn a task is. One that is frozen keeps its tasks for later, one that is dead has none. */
export interface Owner {
  readonly state: "running" | "frozen" | "dead";
  hold(task: Task): void;
}

export interface Task {
  due: number;
  /** Decides among those that are ready at once. */
  tie: number;
  order: number;
  readonly label: string;
  readonly owner: Owner | undefined;
  readonly run: () => void;
  cancelled: boolean;
}

const before = (a: Task, b: Task): boolean =>
  a.due < b.due || (a.due === b.due && (a.tie < b.tie || (a.tie === b.tie && a.order < b.order)));

/**
 * Owns time and the order of everything that is ready. Whatever enters a party (a timer, an answer, a watch event, a message)
 * is one task; among those of one millisecond chance decides, and each is over, with all that follows from it without
 * waiting, before the next begins. So a seed is a run, and a run is one order of events.
 */
export class Scheduler implements Clock {
  readonly trace: Trace;
  readonly #random: Random;
  readonly #tasks = new MinHeap<Task>(before);
  #elapsed = 0;
  #order = 0;
  #atOnce = 0;

  constructor(random: Random, trace: Trace) {
    this.#random = random;
    this.trace = trace;
  }

  /** Milliseconds since the world began. */
  get elapsed(): number {
    return this.#elapsed;
  }

  now(): number {
    return BEGIN + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): () => void {
    return this.at(ms, "timer", callback);
  }

  /** Runs once, `ms` from now; the returned function cancels. */
  at(ms: number, label: string, run: () => void, owner?: Owner): () => void {
    const due = this.#elapsed + Math.max(0, Math.ceil(ms));
    const task = { due, tie: this.#random.next(), order: this.#order++, label, owner, run, cancelled: false };
    this.#tasks.push(task);
    return () => {
      task.cancelled = true;
    };
  }

  /** A task that its owner held comes up again now, in the order in which it was held. */
  resume(task: Task): void {
    task.due = this.#elapsed;
    task.tie = 0;
    task.order = this.#order++;
    this.#tasks.push(task);
  }

  /** Lets time pass. `until` is asked after every task. */
  run(ms: number, until: () => boolean = () => false): Promise<void> {
    const end = this.#elapsed + ms;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isOver = false;
    let ranOne = false;
    const turn = (): void => {
      if (isOver) return;
      try {
        const isEnough = ranOne && until();
        ranOne = !isEnough && this.#runNext(end);
        if (ranOne) return;
        if (!isEnough) this.#elapsed = Math.max(this.#elapsed, end);
        isOver = true;
        resolve();
      } catch (error) {
        isOver = true;
        reject(error);
      }
    };
    const round = (): void => {
      if (isOver) return;
      for (let turns = 0; turns < TURNS; turns++) setImmediate(turn);
      setImmediate(round);
    };
    round();
    return promise;
  }

  /** False when nothing is due until then. */
  #runNext(end: number): boolean {
    for (let task = this.#tasks.peek(); task !== undefined && task.due <= end; task = this.#tasks.peek()) {
      this.#tasks.pop();
      if (task.cancelled || task.owner?.state === "dead") continue;
      if (task.owner?.state === "frozen") {
        task.owner.hold(task);
        continue;
      }
      if (task.due > this.#elapsed) this.#atOnce = 0;
      else if (++this.#atOnce > MAX_AT_ONCE) throw new Error(`time stands still: ${task.label} again and again`);
      this.#elapsed = Math.max(this.#elapsed, task.due);
      this.trace.pulse(this.#elapsed, task.label);
      task.run();
      return true;
    }
    return false;
  }

  /** Waits for something that needs time to pass. */
  async drive<T>(promise: Promise<T>, limitMs = 60_000): Promise<T> {
    let over = false;
    const settled = promise.finally(() => {
      over = true;
    });
    settled.catch(() => {});
    await this.run(0, () => over);
    if (!over) await this.run(limitMs, () => over);
    if (!over) throw new Error(`not over within ${limitMs} ms of virtual time`);
    return settled;
  }
}

/** Tasks within one millisecond; more come only from a loop that waits for nothing. */
const MAX_AT_ONCE = 5_000;

const BEGIN = Date.UTC(2026, 0, 1);

/**
 * Each task is an immediate: Node drains every chain of promises between one immediate and the next. This many of them for each
 * turn of the event loop, which itself costs more than most tasks.
 */
const TURNS = 200;

/** Things that arrive late, each on its own, and in the order in which they were sent. */
export class Pipe {
  readonly #scheduler: Scheduler;
  readonly #lagMs: () => number;
  readonly #owner: Owner | undefined;
  readonly #underWay: (() => void)[] = [];
  #lastDue = 0;

  constructor(scheduler: Scheduler, lagMs: () => number, owner?: Owner) {
    this.#scheduler = scheduler;
    this.#lagMs = lagMs;
    this.#owner = owner;
  }

  send(label: string, arrive: () => void): void {
    const now = this.#scheduler.elapsed;
    this.#lastDue = Math.max(this.#lastDue, now + this.#lagMs());
    this.#underWay.push(arrive);
    this.#scheduler.at(this.#lastDue - now, label, () => this.#underWay.shift()?.(), this.#owner);
  }
}
