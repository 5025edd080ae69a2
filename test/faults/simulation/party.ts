import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Random } from "../../differential/random.ts";
import type { Owner, Scheduler, Task } from "./scheduler.ts";

/** A computer with clocks of its own. They are wrong by `offsetMs`, run fast by `drift`, and stand while it sleeps. */
export class Machine {
  readonly offsetMs: number;
  readonly #scheduler: Scheduler;
  readonly #drift: number;
  readonly #bootMs: number;
  #sleptMs = 0;
  #asleepSince: number | undefined;

  constructor(scheduler: Scheduler, options: { offsetMs?: number; drift?: number; bootMs?: number } = {}) {
    this.#scheduler = scheduler;
    this.offsetMs = options.offsetMs ?? 0;
    this.#drift = options.drift ?? 0;
    this.#bootMs = options.bootMs ?? 0;
  }

  sleep(): void {
    this.#asleepSince ??= this.#scheduler.elapsed;
  }

  wake(): void {
    if (this.#asleepSince === undefined) return;
    this.#sleptMs += this.#scheduler.elapsed - this.#asleepSince;
    this.#asleepSince = undefined;
  }

  now(): number {
    return Math.floor(this.#scheduler.now() + this.offsetMs + this.#scheduler.elapsed * this.#drift);
  }

  monotonic(): number {
    const awakeMs = (this.#asleepSince ?? this.#scheduler.elapsed) - this.#sleptMs;
    return this.#bootMs + awakeMs * (1 + this.#drift);
  }

  /** The clock as a process on this machine sees it; without an owner as a cluster's own components do. */
  clock(label: string, owner?: Owner): Clock {
    const after = (ms: number, callback: () => void): (() => void) => {
      const target = this.monotonic() + ms;
      let cancel = (): void => {};
      let cancelled = false;
      const arm = (leftMs: number): void => {
        cancel = this.#scheduler.at(
          leftMs / (1 + this.#drift),
          label,
          () => {
            if (cancelled) return;
            // The machine slept: what is left of the wait starts now.
            const rest = target - this.monotonic();
            if (rest > 0.5) arm(rest);
            else callback();
          },
          owner,
        );
      };
      arm(ms);
      return () => {
        cancelled = true;
        cancel();
      };
    };
    return { now: () => this.now(), monotonic: () => this.monotonic(), after };
  }
}

/** One process, from its start to its death: SIGKILL, SIGSTOP and SIGCONT. */
export class Party implements Owner {
  readonly name: string;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly random: Random;
  readonly startedAt: number;
  readonly #scheduler: Scheduler;
  readonly #held: Task[] = [];
  readonly #deaths: (() => void)[] = [];
  #state: Owner["state"] = "running";

  constructor(name: string, machine: Machine, random: Random, scheduler: Scheduler) {
    this.name = name;
    this.machine = machine;
    this.random = random;
    this.startedAt = scheduler.elapsed;
    this.#scheduler = scheduler;
    this.clock = machine.clock(`${name} timer`, this);
  }

  get state(): Owner["state"] {
    return this.#state;
  }

  hold(task: Task): void {
    this.#held.push(task);
  }

  freeze(): void {
    if (this.#state === "running") this.#state = "frozen";
  }

  thaw(): void {
    if (this.#state !== "frozen") return;
    this.#state = "running";
    for (const task of this.#held.splice(0)) this.#scheduler.resume(task);
  }

  kill(): void {
    if (this.#state === "dead") return;
    this.#state = "dead";
    this.#held.length = 0;
    for (const died of this.#deaths) died();
  }

  /** The kernel closes what a dead process had open. */
  onDeath(callback: () => void): void {
    this.#deaths.push(callback);
  }
}
