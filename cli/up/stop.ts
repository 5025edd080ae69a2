/** When `jobferry up` ends. */
import { aborted } from "@jobferry/shared/runtime/aborted.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export interface Stop {
  readonly signal: AbortSignal;
  readonly asked: Promise<void>;
}

/** Comes at a signal or when the time is over. The time counts from now. */
export function stopAsked(shutdown: AbortSignal, exitAfter: string | undefined): Stop {
  const over = new AbortController();
  const signal = AbortSignal.any([shutdown, over.signal]);
  const [, amount, unit = ""] = /^([\d.]+)(\w+)$/.exec(exitAfter ?? "") ?? [];
  if (amount !== undefined) realClock.after(Number(amount) * (UNITS[unit] ?? 0), () => over.abort());
  return { signal, asked: aborted(signal) };
}
