import { type ApiError, isOutcomeUnknown } from "./errors.ts";

/**
 * What a second try may do after a failure that leaves open whether the first was applied:
 * `safe` reads only; `repeatable` ends in the same state (a conflict at worst); `once` must not be sent again.
 */
export type AfterFailure = "safe" | "repeatable" | "once";

export function canRetry(error: ApiError, afterFailure: AfterFailure): boolean {
  if (error.code === 429 || error.reason === "NotSent") return true;
  if (error.reason === "InvalidResponse") return false;
  const troubled = error.code >= 500 || isOutcomeUnknown(error);
  return troubled && afterFailure !== "once";
}
