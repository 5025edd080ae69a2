import { describe, expect, it } from "vitest";
import { prune, type Schema, withDefaults } from "./schema.ts";
import { validateCustom } from "./validate.ts";

const schema: Schema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 9 },
        mode: { type: "string", enum: ["A", "B"], default: "A" },
        name: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]+$" },
        ratio: { type: "number", minimum: 0, exclusiveMinimum: true },
        port: { "x-kubernetes-int-or-string": true },
        at: { type: "string", format: "date-time" },
        tags: { type: "array", maxItems: 2, items: { type: "string" }, "x-kubernetes-list-type": "set" },
        maybe: { type: "string", nullable: true },
        labels: { type: "object", maxProperties: 1, additionalProperties: { type: "string" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        either: { oneOf: [{ required: ["a"] }, { required: ["b"] }], type: "object", properties: { a: {}, b: {} } },
      },
    },
  },
};
const faultsOf = (spec: unknown): string[] =>
  validateCustom(schema, { spec }).map(({ field, kind, detail }) => `${field} ${kind} ${detail}`.trim());

describe("a custom resource", () => {
  it("passes when it follows its schema", () => {
    const spec = {
      size: 3,
      mode: "B",
      name: "abc",
      ratio: 0.5,
      port: "http",
      at: "2026-01-01T00:00:00Z",
      tags: ["x", "y"],
      maybe: null,
      labels: { a: "b" },
      either: { a: 1 },
    };
    expect(faultsOf(spec)).toEqual([]);
  });

  it.each([
    [{}, "spec.size Required"],
    [{ size: "3" }, 'spec.size TypeInvalid spec.size in body must be of type integer: "string"'],
    [{ size: 0 }, "spec.size Invalid spec.size in body should be greater than or equal to 1"],
    [{ size: 10 }, "spec.size Invalid spec.size in body should be less than or equal to 9"],
    [{ size: 1, mode: "C" }, 'spec.mode NotSupported supported values: "A", "B"'],
    [{ size: 1, name: "a" }, "spec.name Invalid spec.name in body should be at least 2 chars long"],
    [{ size: 1, name: "abcde" }, "spec.name TooLong may not be more than 4 bytes"],
    [{ size: 1, name: "AB" }, "spec.name Invalid spec.name in body should match '^[a-z]+$'"],
    [{ size: 1, ratio: 0 }, "spec.ratio Invalid spec.ratio in body should be greater than 0"],
    [{ size: 1, port: true }, 'spec.port TypeInvalid spec.port in body must be of type integer,string: "boolean"'],
    [{ size: 1, at: "noon" }, 'spec.at Invalid spec.at in body must be of type date-time: "noon"'],
    [{ size: 1, tags: ["a", "a"] }, "spec.tags[1] Duplicate"],
    [{ size: 1, tags: ["a", "b", "c"] }, "spec.tags TooMany must have at most 2 items"],
    [
      { size: 1, labels: { a: 1 } },
      'spec.labels.a TypeInvalid spec.labels.a in body must be of type string: "integer"',
    ],
    [{ size: 1, either: {} }, "spec.either Invalid spec.either in body must validate one and only one schema (oneOf)"],
  ])("is refused: %j", (spec, wanted) => {
    expect(faultsOf(spec)).toEqual([wanted]);
  });

  it("loses what its schema does not know, and keeps what it says to keep", () => {
    const unknown: string[] = [];
    const body = { kind: "X", metadata: { any: 1 }, spec: { size: 1, odd: 2, free: { x: { y: 1 } } }, more: 3 };
    expect(prune(schema, body, unknown)).toEqual({
      kind: "X",
      metadata: { any: 1 },
      spec: { size: 1, free: { x: { y: 1 } } },
    });
    expect(unknown).toEqual(["spec.odd", "more"]);
  });

  it("gets defaults where a value is missing or null", () => {
    expect(withDefaults(schema, { spec: { size: 1 } })).toEqual({ spec: { size: 1, mode: "A" } });
    expect(withDefaults(schema, { spec: { size: 1, mode: null, maybe: null, name: null } })).toEqual({
      spec: { size: 1, mode: "A", maybe: null },
    });
  });

  it("is held to its rules, transitions included, once its shape is right", () => {
    const ruled: Schema = {
      type: "object",
      properties: {
        n: {
          type: "integer",
          "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "must not fall" }, { rule: "self != 13" }],
        },
      },
    };
    expect(validateCustom(ruled, { n: 1 })).toEqual([]);
    expect(validateCustom(ruled, { n: 1 }, { n: 2 })).toEqual([
      { field: "n", kind: "Invalid", detail: "must not fall" },
    ]);
    expect(validateCustom(ruled, { n: 13 })).toEqual([
      { field: "n", kind: "Invalid", detail: "failed rule: self != 13" },
    ]);
    expect(validateCustom(ruled, { n: "x" }).map(({ detail }) => detail)).toContain(
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    );
  });
});
