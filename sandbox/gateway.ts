import type { CallOptions } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Call, Faults } from "./faults.ts";

const DEFAULT_TIMEOUT_MS = 30_000;

/** Every request to the cluster, in process or over HTTP, passes here: this is where faults strike and writes are observed. */
export class Gateway {
  readonly #clock: Clock;
  readonly #faults: Faults;
  /** False between the stop and the start of the server: nothing answers. */
  isUp = true;

  constructor(clock: Clock, faults: Faults) {
    this.#clock = clock;
    this.#faults = faults;
  }

  /** `perform` does the work at one instant; whatever it throws is the answer. */
  async run<T>(call: Call, perform: () => T, options: CallOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const plan = this.#faults.planFor(call);
    // A request takes a turn even when nothing delays it, so that callers never see their own write happen at once.
    await Promise.resolve();
    if (plan.delayMs > 0) await this.#pause(plan.delayMs, options);
    if (!this.isUp) throw new ApiError(0, "ConnectionFailed", "the server is not running");
    if (plan.before !== undefined) throw plan.before;
    await this.#faults.notify("before", call);
    options.signal?.throwIfAborted();
    const result = perform();
    await this.#faults.notify("after", call);
    if (plan.after !== undefined) throw plan.after;
    return result;
  }

  async #pause(ms: number, options: CallOptions): Promise<void> {
    const limit = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    await sleep(this.#clock, Math.min(ms, limit), options.signal);
    if (ms > limit) throw new ApiError(0, "Timeout", `no answer within ${limit} ms`);
  }
}
