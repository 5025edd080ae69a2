import { isRecord } from "../store/frozen.ts";

type Fields = Record<string, unknown>;

const TIMES = { lastProbeTime: null, lastTransitionTime: null };

/** Go has no way to leave out a time that was not set: conditions of Jobs and pods show it as null. */
export function withNullTimes(status: object): object {
  const { conditions } = status as Fields;
  if (!Array.isArray(conditions)) return status;
  return {
    ...status,
    conditions: conditions.map((condition) => (isRecord(condition) ? { ...TIMES, ...condition } : condition)),
  };
}
