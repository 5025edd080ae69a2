import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frozenCopy, jsonEqual } from "./frozen.ts";

const json = () => fc.jsonValue({ maxDepth: 4 });

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

describe("frozen copies", () => {
  it("are equal, deeply frozen, and leave the original alone", () => {
    fc.assert(
      fc.property(json(), (value) => {
        const before = JSON.stringify(value);
        const copy = frozenCopy(value);
        expect(JSON.stringify(copy)).toBe(before);
        expect(isDeeplyFrozen(copy)).toBe(true);
        if (typeof value === "object" && value !== null) expect(Object.isFrozen(value)).toBe(false);
      }),
    );
  });

  it("share every part that is frozen already", () => {
    const spec = frozenCopy({ containers: [{ name: "a" }] });
    const copy = frozenCopy({ spec, status: { phase: "Running" } });
    expect(copy.spec).toBe(spec);
    expect(frozenCopy(copy)).toBe(copy);
  });

  it("do not trust an object that is frozen only on the outside", () => {
    const inner = { a: 1 };
    const copy = frozenCopy(Object.freeze({ inner }));
    inner.a = 2;
    expect(copy.inner.a).toBe(1);
  });

  it("leave out what is undefined", () => {
    expect(Object.keys(frozenCopy({ a: undefined, b: 1 }))).toEqual(["b"]);
  });

  it("keep a key named __proto__ a key", () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": true}}') as object;
    const copy = frozenCopy(hostile);
    expect(Object.keys(copy)).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("jsonEqual", () => {
  it("agrees with the text of canonical JSON", () => {
    fc.assert(fc.property(json(), json(), (a, b) => jsonEqual(a, b) === (canonical(a) === canonical(b))));
    fc.assert(fc.property(json(), (a) => jsonEqual(a, structuredClone(a))));
  });

  it("takes a missing key for undefined", () => {
    expect(jsonEqual({ a: 1 }, { a: 1, b: undefined })).toBe(true);
    expect(jsonEqual({ a: 1 }, { a: 1, b: null })).toBe(false);
  });
});

function canonical(value: unknown): string {
  const sorted = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(sorted);
    if (typeof part !== "object" || part === null) return part === 0 ? 0 : part;
    return Object.entries(part)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]);
  };
  return JSON.stringify([typeof value, sorted(value), Array.isArray(value)]);
}
