import type { ObjectKey } from "./api.ts";

/** As the API server's query has them. */
export interface LogOptions {
  readonly follow?: boolean | undefined;
  readonly previous?: boolean | undefined;
  readonly timestamps?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly sinceTime?: string | undefined;
  readonly limitBytes?: number | undefined;
}

/** Reads what containers have written. */
export interface PodLogs {
  /** Resolves when the server has found the log; rejects with `ApiError`. Ends with the log, or when `signal` aborts. */
  readLog(
    pod: Required<ObjectKey>,
    options: LogOptions & { readonly container: string },
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
}
