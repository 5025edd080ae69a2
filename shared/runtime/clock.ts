/**
 * Time as a port, so that a whole fleet can run in one process on a virtual clock. Nothing outside this folder and the
 * wiring in `main.ts` reads the real clock.
 */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For timestamps that others will read. */
  now(): number;
  /** Never goes back and knows no date. For durations. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels. Real timers do not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    // Node fires at once for delays above 2^31-1: wait in stages.
    const limit = 2 ** 31 - 1;
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      timer = setTimeout(() => (left > limit ? arm(left - limit) : callback()), Math.min(left, limit));
      timer.unref();
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Whole seconds in RFC 3339, as the API server stores times (docs/job-behaviour.md SW-9). */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
