import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { GENERATION, STOP_AFTER } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Mirrors } from "../intake/mirrors.ts";

/**
 * The agent's half of `StopThenRedispatch`: a Job that says so is suspended here when the manager has been silent for two
 * thirds of `lostAfter`, before the manager may give it to another cluster. Silence is measured on this machine's monotonic
 * clock from the last inventory received (which the manager sends only to those it hears), so no two clocks are ever compared. The
 * mirror then counts as out of date, so that a manager that is heard again delivers the Job anew or withdraws it.
 */
export class Contact {
  readonly #options: { api: KubeApi; clock: Clock; logger: Logger; mirrors: Mirrors };
  #lastHeard: number;

  constructor(options: { api: KubeApi; clock: Clock; logger: Logger; mirrors: Mirrors }) {
    this.#options = options;
    this.#lastHeard = options.clock.monotonic();
  }

  heard(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  /** Call every few seconds. */
  async check(): Promise<void> {
    const { api, clock, logger, mirrors } = this.#options;
    const silentSeconds = (clock.monotonic() - this.#lastHeard) / 1000;
    for (const { mirror } of mirrors.all()) {
      const stopAfter = Number(mirror.metadata.annotations?.[STOP_AFTER]);
      if (!(silentSeconds >= stopAfter) || mirror.spec.suspend === true || isFinished(mirror)) continue;
      const { namespace = "", name = "", uid } = mirror.metadata;
      logger.warn(
        { namespace, name, silentSeconds: Math.round(silentSeconds) },
        "no word from the manager: stopping the Job's pods",
      );
      await api.patch(
        jobs,
        { namespace, name },
        { type: "merge", body: { metadata: { uid, annotations: { [GENERATION]: null } }, spec: { suspend: true } } },
      );
    }
  }
}
