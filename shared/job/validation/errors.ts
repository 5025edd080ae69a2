/** Validation failures in the API server's terms: one entry per violated rule, all of them, never just the first. */

export type FieldErrorKind =
  | "Required"
  | "Invalid"
  | "NotSupported"
  | "Duplicate"
  | "TooLong"
  | "TooMany"
  | "Forbidden"
  | "NotFound";

export interface FieldError {
  /** As the API server names it, for example `spec.template.spec.containers[0].image`. */
  readonly field: string;
  readonly kind: FieldErrorKind;
  readonly detail: string;
  readonly badValue?: unknown;
}

/** Clients show these words in front of the detail. */
const HEADINGS: Readonly<Record<FieldErrorKind, string>> = {
  Required: "Required value",
  Invalid: "Invalid value",
  NotSupported: "Unsupported value",
  Duplicate: "Duplicate value",
  TooLong: "Too long",
  TooMany: "Too many",
  Forbidden: "Forbidden",
  NotFound: "Not found",
};

/** An entry of `Status.details.causes`. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** @internal For tests, which compare it with a real API server's. */
export function toStatusCause(error: FieldError): StatusCause {
  return { reason: `FieldValue${error.kind}`, message: describeError(error), field: error.field };
}

/** One line for people: field, heading, value, detail. */
export const formatFieldError = (error: FieldError): string => `${error.field}: ${describeError(error)}`;

function describeError({ kind, badValue, detail }: FieldError): string {
  const value = badValue === undefined ? "" : `: ${(JSON.stringify(badValue) ?? String(badValue)).slice(0, 200)}`;
  return `${HEADINGS[kind]}${value}${detail === "" ? "" : `: ${detail}`}`;
}

export class Violations {
  readonly errors: FieldError[] = [];

  required(field: string, detail = ""): void {
    this.errors.push({ field, kind: "Required", detail });
  }

  invalid(field: string, badValue: unknown, detail: string): void {
    this.errors.push({ field, kind: "Invalid", detail, badValue });
  }

  /** One entry per complaint of a name checker. */
  malformed(field: string, badValue: string, complaints: readonly string[]): void {
    for (const complaint of complaints) this.invalid(field, badValue, complaint);
  }

  notSupported(field: string, badValue: unknown, supported: readonly string[]): void {
    const detail = `supported values: ${supported.map((value) => JSON.stringify(value)).join(", ")}`;
    this.errors.push({ field, kind: "NotSupported", detail, badValue });
  }

  duplicate(field: string, badValue: unknown): void {
    this.errors.push({ field, kind: "Duplicate", detail: "", badValue });
  }

  tooLong(field: string, maxBytes: number): void {
    this.errors.push({ field, kind: "TooLong", detail: `may not be more than ${maxBytes} bytes` });
  }

  tooMany(field: string, count: number, max: number): void {
    this.errors.push({ field, kind: "TooMany", detail: `must have at most ${max} items`, badValue: count });
  }

  forbidden(field: string, detail: string): void {
    this.errors.push({ field, kind: "Forbidden", detail });
  }

  notFound(field: string, badValue: unknown, detail = ""): void {
    this.errors.push({ field, kind: "NotFound", detail, badValue });
  }

  nonNegative(field: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(field, value, "must be greater than or equal to 0");
  }

  /** A string field that must hold one of a few words. */
  oneOf(field: string, value: string | undefined, supported: readonly string[]): void {
    if (value === undefined || value === "") this.required(field, `one of ${supported.join(", ")}`);
    else if (!supported.includes(value)) this.notSupported(field, value, supported);
  }
}
