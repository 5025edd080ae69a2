/** What goes wrong in a chaos run: one fault at a time begins, and several may last at once. */
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Random } from "../../differential/random.ts";
import type { RealFleet } from "../../e2e/dispatch/real-fleet.ts";
import type { Network } from "./network.ts";

const MANAGERS = ["manager", "second"] as const;
export const WORKERS = ["east", "west", "north"] as const;
export const PROGRAMS = [...MANAGERS, ...WORKERS] as const;
type Program = (typeof PROGRAMS)[number];

interface Fault {
  readonly what: string;
  /** Resolves when it is over. */
  run(): Promise<void>;
}

export class Faults {
  readonly #fleet: RealFleet;
  readonly #network: Network;
  readonly #random: Random;
  readonly #lasting = new Set<Promise<void>>();
  /** What a process goes through: it is not killed while it is frozen, nor twice. */
  readonly #busy = new Set<string>();
  readonly happened: string[] = [];

  constructor(fleet: RealFleet, network: Network, random: Random) {
    this.#fleet = fleet;
    this.#network = network;
    this.#random = random;
  }

  /** Begins one of them, by chance. */
  strike(): void {
    const kinds = ["kill", "freeze", "reset", "refuse", "hold", "slow", "drop answers", "flush", "drain"] as const;
    const weights = [3, 3, 2, 2, 3, 2, 2, 0.3, 0.7];
    const kind = this.#random.weighted(
      kinds.map((each, index): [number, typeof each] => [weights[index] ?? 1, each]) as [
        [number, (typeof kinds)[number]],
      ],
    );
    this.#begin(this.#fault(kind));
  }

  /** The primary of Redis dies, and its replica takes over. */
  failOver(): void {
    this.#begin({ what: "Redis fails over", run: () => this.#network.failOver() });
  }

  /** Waits until all are over, and takes away what is left of them. */
  async end(): Promise<void> {
    await Promise.all(this.#lasting);
    this.#network.mend();
  }

  #begin({ what, run }: Fault): void {
    this.happened.push(what);
    const lasting: Promise<void> = run()
      .catch((error: unknown) => void this.happened.push(`${what}: ${String(error).slice(0, 200)}`))
      .finally(() => this.#lasting.delete(lasting));
    this.#lasting.add(lasting);
  }

  #fault(kind: string): Fault {
    const program = this.#random.pick(PROGRAMS);
    const [wire, ms] = [this.#random.pick(["redis", "api"] as const), this.#random.int(500, 8_000)];
    const proxy = this.#network[wire].get(program);
    const lasting = (begin: () => void): Fault => ({
      what: `${kind} ${wire} of ${program}`,
      run: async () => {
        begin();
        await delay(ms);
        proxy?.restore();
      },
    });
    switch (kind) {
      case "kill":
        return { what: `kill ${program}`, run: () => this.#alone(program, () => this.#kill(program, ms / 3)) };
      case "freeze":
        return { what: `freeze ${program}`, run: () => this.#alone(program, () => this.#freeze(program, ms)) };
      case "reset":
        return { what: `reset ${wire} of ${program}`, run: async () => proxy?.cut() };
      case "drop answers":
        return { what: `drop answers ${wire} of ${program}`, run: async () => proxy?.dropAnswers() };
      case "refuse":
        return lasting(() => proxy?.refuse());
      case "hold":
        return lasting(() => proxy?.hold());
      case "slow":
        return lasting(() => proxy?.slowDown(this.#random.int(50, 500)));
      case "flush":
        return { what: "Redis is emptied", run: () => this.#flush() };
      default:
        return this.#drain(this.#random.pick(WORKERS), ms);
    }
  }

  async #alone(program: Program, act: () => Promise<void>): Promise<void> {
    if (this.#busy.has(program)) return;
    this.#busy.add(program);
    await act();
    this.#busy.delete(program);
  }

  async #kill(program: Program, ms: number): Promise<void> {
    await this.#fleet.kill(program);
    await delay(ms);
    this.start(program);
  }

  start(program: Program): void {
    if (program === "manager" || program === "second") this.#fleet.startManager(program);
    else this.#fleet.startAgent(program);
  }

  async #freeze(program: Program, ms: number): Promise<void> {
    const running = this.#fleet.process(program);
    running.kill("SIGSTOP");
    await delay(ms);
    running.kill("SIGCONT");
  }

  async #flush(): Promise<void> {
    const admin = new Redis(this.#network.pair.url, { retryStrategy: null });
    admin.on("error", () => {});
    await admin.flushall().finally(() => admin.disconnect());
  }

  #drain(cluster: string, ms: number): Fault {
    return {
      what: `drain ${cluster}`,
      run: () =>
        this.#alone(cluster as Program, async () => {
          await this.#fleet.configure(cluster, { drain: true });
          await delay(ms);
          await this.#fleet.configure(cluster, { drain: false });
        }),
    };
  }
}
