import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergePatch } from "./merge.ts";

describe("merge patch", () => {
  it.each([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{ a: 1 }, { b: null }, { a: 1 }],
  ])("%j + %j", (target, patch, wanted) => {
    expect(mergePatch(target, patch)).toEqual(wanted);
  });

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(fc.object(), fc.object(), (target, patch) => {
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
