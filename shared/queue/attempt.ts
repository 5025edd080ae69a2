import { ProtocolError } from "../protocol/errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ConsumeOptions, MessageHandler } from "./bus.ts";

export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "retry"; readonly delayMs: number; readonly reason: string }
  | { readonly kind: "quarantine"; readonly code: string; readonly reason: string };

/** One try of a message; `tries` counts this one. Never rejects. */
export async function attempt(
  handler: MessageHandler,
  text: string,
  tries: number,
  options: ConsumeOptions,
  clock: Clock,
): Promise<Outcome> {
  if (tries > options.maxTries) return quarantine("tries", `started ${tries - 1} times without an end`);
  try {
    await withDeadline((signal) => handler(text, signal), options.deadlineMs, clock);
    return { kind: "done" };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof ProtocolError) return quarantine(error.code, reason);
    if (tries >= options.maxTries) return quarantine("tries", reason);
    return { kind: "retry", delayMs: retryDelay(tries, options), reason: reason.slice(0, 1000) };
  }
}

const quarantine = (code: string, reason: string): Outcome => ({
  kind: "quarantine",
  code,
  reason: reason.slice(0, 1000),
});

const retryDelay = (tries: number, { backoff }: ConsumeOptions): number =>
  Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(tries - 1, 30));

async function withDeadline(work: (signal: AbortSignal) => Promise<void>, ms: number, clock: Clock): Promise<void> {
  const controller = new AbortController();
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => {
      const error = new Error(`the handler took longer than ${ms} ms`);
      controller.abort(error);
      reject(error);
    });
  });
  try {
    await Promise.race([work(controller.signal), late]);
  } finally {
    cancel();
  }
}
