import type { Request } from "./api-server.ts";
import type { World, WorldObserver } from "./world.ts";

/** Where one process dies, or one answer is lost. */
export interface Strike {
  readonly role: "manager" | "agent";
  /** Counted over all processes of that role. */
  readonly nth: number;
  /** `before`: killed, and the write never arrives. `after`: it is carried out, then killed. `unanswered`: only the answer is lost. */
  readonly effect: "before" | "after" | "unanswered";
}

const WRITES = new Set(["create", "replace", "patch", "delete"]);
const RESTART_MS = 500;

/** Counts the writes of Jobs and pods, and strikes at one of them. */
export class Striker implements WorldObserver {
  readonly #world: World;
  readonly #rules: WorldObserver;
  readonly #strike: Strike | undefined;
  readonly #hit = new WeakSet<Request>();
  readonly counts = { manager: 0, agent: 0 };

  constructor(world: World, rules: WorldObserver, strike: Strike | undefined) {
    this.#world = world;
    this.#rules = rules;
    this.#strike = strike;
  }

  onRequest(request: Request): "lost" | undefined {
    const { verb, resource, dryRun, party } = request;
    if (WRITES.has(verb) && !dryRun && (resource.plural === "jobs" || resource.plural === "pods")) {
      const role = this.#world.managers.has(party.name) ? "manager" : "agent";
      const nth = ++this.counts[role];
      if (this.#strike?.role === role && this.#strike.nth === nth) {
        this.#world.trace.say(`${party.name} is struck ${this.#strike.effect} ${verb} ${resource.plural}`);
        if (this.#strike.effect === "before") {
          this.#kill(party.name);
          return "lost";
        }
        this.#hit.add(request);
      }
    }
    return this.#rules.onRequest(request);
  }

  onAnswer(request: Request, error: unknown): "lost" | undefined {
    const answer = this.#rules.onAnswer(request, error);
    if (!this.#hit.has(request)) return answer;
    if (this.#strike?.effect === "after") this.#kill(request.party.name);
    return "lost";
  }

  #kill(name: string): void {
    const program = this.#world.programs().find((each) => each.name === name);
    for (const cluster of this.#world.workers.keys())
      this.#world.weather.storm({ cluster, kind: "process" }, RESTART_MS + 1);
    program?.kill();
    this.#world.scheduler.at(RESTART_MS, `${name} restart`, () => program?.start());
  }
}
