import type { Stored } from "../store/frozen.ts";

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean" | "number";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, anything above only with `-o wide`. */
  readonly priority: number;
  value(object: Stored, nowMs: number): unknown;
}
