import type { Request } from "./api-server.ts";
import type { World, WorldObserver } from "./world.ts";

type Role = "manager" | "agent";

/** Where one process dies, or one answer is lost. */
export interface Strike {
  readonly role: Role;
  /** Counted over all processes of that role, from the strike before this one on. */
  readonly nth: number;
  /** `before`: killed, and the write never arrives. `after`: it is carried out, then killed. `unanswered`: only the answer is lost. */
  readonly effect: "before" | "after" | "unanswered";
}

/** Redis forgets everything this long after the strike before: while the process starts again, or greets. */
interface Flush {
  readonly flushAfterMs: number;
}

export type Blow = Strike | Flush;

const WRITES = new Set(["create", "replace", "patch", "delete"]);
/** Written by the clock and not because of a Job. */
const BY_THE_CLOCK = new Set(["leases", "events", "workerclusters", "jobqueues", "nodes"]);
const RESTART_MS = 500;

/** Counts what our processes write because of Jobs, and strikes where it is told to, one strike after the other. */
export class Striker implements WorldObserver {
  readonly #world: World;
  readonly #rules: WorldObserver;
  readonly #hit = new WeakMap<Request, Strike>();
  #left: readonly Blow[];
  #since = { manager: 0, agent: 0 };
  readonly counts = { manager: 0, agent: 0 };
  /** Strikes that came about. */
  landed = 0;

  constructor(world: World, rules: WorldObserver, strikes: readonly Blow[]) {
    this.#world = world;
    this.#rules = rules;
    this.#left = strikes;
  }

  onRequest(request: Request): "lost" | undefined {
    const { verb, resource, dryRun, party } = request;
    if (WRITES.has(verb) && !dryRun && !BY_THE_CLOCK.has(resource.plural)) {
      const role = this.#world.managers.has(party.name) ? "manager" : "agent";
      this.counts[role]++;
      const nth = ++this.#since[role];
      const [next] = this.#left;
      if (next !== undefined && "role" in next && next.role === role && next.nth === nth) {
        this.#world.trace.say(`${party.name} is struck ${next.effect} ${verb} ${resource.plural}`);
        this.#advance();
        if (next.effect === "before") {
          this.#kill(party.name);
          return "lost";
        }
        this.#hit.set(request, next);
      }
    }
    return this.#rules.onRequest(request);
  }

  onAnswer(request: Request, error: unknown): "lost" | undefined {
    const answer = this.#rules.onAnswer(request, error);
    const strike = this.#hit.get(request);
    if (strike === undefined) return answer;
    if (strike.effect === "after") this.#kill(request.party.name);
    return "lost";
  }

  #advance(): void {
    this.landed++;
    this.#since = { manager: 0, agent: 0 };
    this.#left = this.#left.slice(1);
    const [next] = this.#left;
    if (next === undefined || !("flushAfterMs" in next)) return;
    this.#world.scheduler.at(next.flushAfterMs, "redis forgets", () => {
      this.#world.weather.storm("fleet", 1);
      this.#world.redis.flush();
      this.#advance();
    });
  }

  #kill(name: string): void {
    const program = this.#world.programs().find((each) => each.name === name);
    for (const cluster of this.#world.workers.keys())
      this.#world.weather.storm({ cluster, kind: "process" }, RESTART_MS + 1);
    program?.kill();
    this.#world.scheduler.at(RESTART_MS, `${name} restart`, () => program?.start());
  }
}
