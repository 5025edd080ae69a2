import { describe, expect, test } from "vitest";
import { formatFieldError, toStatusCause, Violations } from "./errors.ts";

describe("what clients see", () => {
  const v = new Violations();
  v.required("a");
  v.invalid("b", -1, "must be positive");
  v.notSupported("c", "X", ["A", "B"]);
  v.duplicate("d", "x");
  v.tooLong("e", 63);
  v.tooMany("f", 21, 20);
  v.forbidden("g", "not here");
  v.notFound("h", "x");

  test("one line for each", () => {
    expect(v.errors.map(formatFieldError)).toEqual([
      "a: Required value",
      "b: Invalid value: -1: must be positive",
      'c: Unsupported value: "X": supported values: "A", "B"',
      'd: Duplicate value: "x"',
      "e: Too long: may not be more than 63 bytes",
      "f: Too many: 21: must have at most 20 items",
      "g: Forbidden: not here",
      'h: Not found: "x"',
    ]);
  });

  test("causes carry the reason that the API server uses", () => {
    expect(v.errors.map((error) => toStatusCause(error).reason)).toEqual([
      "FieldValueRequired",
      "FieldValueInvalid",
      "FieldValueNotSupported",
      "FieldValueDuplicate",
      "FieldValueTooLong",
      "FieldValueTooMany",
      "FieldValueForbidden",
      "FieldValueNotFound",
    ]);
  });

  test("huge values are cut", () => {
    const big = new Violations();
    big.invalid("a", "x".repeat(10_000), "too big");
    expect(big.errors.map(formatFieldError).join("").length).toBeLessThan(300);
  });
});
