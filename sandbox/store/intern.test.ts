import { describe, expect, it } from "vitest";
import { Interner } from "./intern.ts";

describe("an interner", () => {
  it("gives equal values one frozen object", () => {
    const interner = new Interner();
    const one = interner.intern([{ name: "a" }]);
    expect(interner.intern([{ name: "a" }])).toBe(one);
    expect(interner.intern([{ name: "b" }])).not.toBe(one);
    expect(Object.isFrozen(one[0])).toBe(true);
    expect(interner.intern("text")).toBe("text");
  });

  it("forgets what was unused for longest", () => {
    const interner = new Interner();
    const kept = interner.intern({ n: "kept" });
    const lost = interner.intern({ n: "lost" });
    for (let i = 0; i < 4094; i++) interner.intern({ i });
    expect(interner.intern({ n: "kept" })).toBe(kept);
    interner.intern({ n: "one more" });
    expect(interner.intern({ n: "kept" })).toBe(kept);
    expect(interner.intern({ n: "lost" })).not.toBe(lost);
  });
});
