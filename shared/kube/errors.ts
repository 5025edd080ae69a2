import type { KubeStatus } from "./api.ts";

/**
 * What went wrong with one API call. `code` is the HTTP status, or 0 when no answer came (`reason` is then `Timeout`,
 * `ConnectionFailed` or `InvalidResponse`, and a write may or may not have been applied; or `NotSent`, when the request
 * never left us).
 */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly status: KubeStatus | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    extra: { retryAfterMs?: number; status?: KubeStatus; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = "ApiError";
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = extra.retryAfterMs;
    this.status = extra.status;
  }

  static fromStatus(status: KubeStatus, retryAfterMs?: number): ApiError {
    const code = status.code ?? 500;
    const seconds = status.details?.retryAfterSeconds;
    const wait = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
    return new ApiError(code, status.reason ?? "Unknown", status.message ?? `the server answered ${code}`, {
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
      status,
    });
  }
}

const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** What the API server calls an answer with this code, where it does not say more. */
export const reasonOf = (code: number): string => REASONS[code] ?? "Unknown";

const hasCode = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;

export const isNotFound = hasCode(404);
export const isConflict = (error: unknown) =>
  error instanceof ApiError && error.code === 409 && error.reason === "Conflict";
export const isAlreadyExists = (error: unknown) =>
  error instanceof ApiError && error.code === 409 && error.reason === "AlreadyExists";
export const isGone = hasCode(410);
export const isInvalid = hasCode(422);
export const isForbidden = hasCode(403);

/** The server refused a create because the namespace is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status?.details?.causes?.some((cause) => cause.reason === "NamespaceTerminating") ?? false);

/** Nobody can say whether the call was applied: no answer, or the server gave up on it. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ApiError && ((error.code === 0 && error.reason !== "NotSent") || error.code === 504);
