import { type Clock, realClock } from "./clock.ts";
import { type Logger, silentLogger } from "./logger.ts";

/** The parts of `process` that matter here. */
interface Host {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

export interface ShutdownOptions {
  /** Given up on after this: a pod gets SIGKILL 30 s after SIGTERM, and our last words should come before. */
  deadlineMs?: number;
  host?: Host;
  clock?: Clock;
  logger?: Logger;
}

const EXIT_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * The first SIGINT or SIGTERM aborts `signal`: finish what must be finished and return from main. A second one, or the
 * deadline, ends the process at once.
 */
export function onShutdown(options: ShutdownOptions = {}): { signal: AbortSignal; dispose(): void } {
  const { deadlineMs = 25_000, host = process, clock = realClock, logger = silentLogger } = options;
  const controller = new AbortController();
  let cancelDeadline = (): void => {};
  const listener = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      logger.warn({ signal: name }, "second signal, exiting at once");
      host.exit(EXIT_CODES[name] ?? 1);
      return;
    }
    logger.info({ signal: name }, "stopping");
    cancelDeadline = clock.after(deadlineMs, () => {
      logger.error({ deadlineMs }, "could not stop in time, exiting");
      host.exit(1);
    });
    controller.abort(new Error(`stopped by ${name}`));
  };
  host.on("SIGINT", listener);
  host.on("SIGTERM", listener);
  return {
    signal: controller.signal,
    dispose() {
      cancelDeadline();
      host.off("SIGINT", listener);
      host.off("SIGTERM", listener);
    },
  };
}
