/** What an API server showed of one Job, state by state: for what must never have been seen, not even for a moment. */
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

interface Timed {
  readonly clock: Clock;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
}

export class History {
  /** Oldest first; of all Jobs that had this name. */
  readonly states: Job[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #until: Timed["until"];

  private constructor(fleet: Timed, reflector: Reflector<Job>) {
    this.#until = (what, holds) => fleet.until(what, holds);
    const seen = (job: Job): void => {
      this.states.push(job);
    };
    reflector.addHandler({ added: seen, updated: (_, job) => seen(job) });
    this.#running = reflector.start(this.#stop.signal);
  }

  static async of(fleet: Timed, api: KubeApi, namespace: string, name: string): Promise<History> {
    const fieldSelector = `metadata.name=${name}`;
    const reflector = new Reflector({ api, clock: fleet.clock, resource: jobs, namespace, fieldSelector });
    const history = new History(fleet, reflector);
    await reflector.whenSynced();
    return history;
  }

  /** Waits for a state; what the API server has told others may still be on its way here. */
  async until(holds: (job: Job) => boolean): Promise<Job> {
    let found: Job | undefined;
    await this.#until("a state of the Job is seen", async () => {
      found = this.states.findLast(holds);
      return found !== undefined;
    }).catch((error: Error) => {
      const last = JSON.stringify(this.states.at(-1));
      throw new Error(`${error.message}; last of ${this.states.length} states: ${last}`);
    });
    return found as Job;
  }

  /** One value of each state, without repetitions. */
  values(pick: (job: Job) => string): string[] {
    return this.states.map(pick).filter((value, index, all) => index === 0 || value !== all[index - 1]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Each of `some` is one of `all`, and comes in that order. */
export function isInOrder(some: readonly string[], all: readonly string[]): boolean {
  let from = 0;
  return some.every((value) => {
    const at = all.indexOf(value, from);
    from = at + 1;
    return at >= 0;
  });
}
