import type { Random } from "../../differential/random.ts";
import { type Machine, Party } from "./party.ts";
import type { RedisLink } from "./redis-link.ts";
import type { Scheduler } from "./scheduler.ts";

export interface ProgramOptions {
  readonly name: string;
  readonly machine: Machine;
  readonly scheduler: Scheduler;
  /** A generator of its own for each start. */
  randomOf(start: number): Random;
  /** Runs as this process until the signal aborts; what it rejects with ends the process. */
  launch(party: Party, program: Program, stop: AbortSignal): Promise<void>;
  isRedisUp(): boolean;
}

const RESTART_MS = 5_000;

/** Something that a kubelet keeps running: one process after the other. */
export class Program {
  readonly #options: ProgramOptions;
  #party: Party | undefined;
  #stop = new AbortController();
  #starts = 0;
  #link: RedisLink | undefined;
  #cuts = 0;
  #slow = { until: 0, lagMs: 0 };
  #awakeSince = 0;
  #isTermPending = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get party(): Party | undefined {
    return this.#party;
  }

  /** Since when the process runs without a pause; undefined while there is none, or it is frozen. */
  get runningSince(): number | undefined {
    return this.#party?.state === "running" ? this.#awakeSince : undefined;
  }

  get isRedisOpen(): boolean {
    return this.#cuts === 0 && this.#options.isRedisUp();
  }

  start(): void {
    if (this.#party !== undefined && this.#party.state !== "dead") return;
    const { name, machine, scheduler, randomOf, launch } = this.#options;
    const party = new Party(name, machine, randomOf(this.#starts++), scheduler);
    machine.wake();
    this.#party = party;
    this.#isTermPending = false;
    this.#awakeSince = scheduler.elapsed;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    scheduler.trace.say(`${name} starts`);
    launch(party, this, signal).then(
      () => this.#ended(party, "ended"),
      (error: unknown) => this.#ended(party, `failed: ${String(error).slice(0, 200)}`),
    );
  }

  connected(link: RedisLink): void {
    this.#link = link;
  }

  kill(): void {
    this.#party?.kill();
  }

  /** SIGTERM. A frozen process gets it when it goes on. */
  terminate(): void {
    if (this.#party?.state === "frozen") this.#isTermPending = true;
    else this.#stop.abort(new Error("SIGTERM"));
  }

  freeze(asleep = false): void {
    if (this.#party?.state !== "running") return;
    this.#party.freeze();
    if (asleep) this.#options.machine.sleep();
  }

  thaw(): void {
    this.#options.machine.wake();
    if (this.#party?.state !== "frozen") return;
    this.#awakeSince = this.#options.scheduler.elapsed;
    this.#party.thaw();
    if (this.#isTermPending) this.terminate();
  }

  /** From now on nothing passes between this process and Redis. `told`: the connection breaks at once, else it hangs. */
  cut(told: boolean): void {
    this.#cuts++;
    if (told) this.reset();
  }

  mend(): void {
    this.#cuts--;
  }

  /** Answers take this much longer for a while. */
  slowRedis(ms: number, lagMs: number): void {
    this.#slow = { until: this.#options.scheduler.elapsed + ms, lagMs };
  }

  get redisLagMs(): number {
    return this.#options.scheduler.elapsed < this.#slow.until ? this.#slow.lagMs : 0;
  }

  reset(): void {
    this.#link?.reset();
  }

  #ended(party: Party, how: string): void {
    const { scheduler, name } = this.#options;
    scheduler.trace.say(`${name} ${how}`);
    party.kill();
    scheduler.at(RESTART_MS, `${name} restart`, () => this.start());
  }
}
