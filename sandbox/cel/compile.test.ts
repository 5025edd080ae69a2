import { describe, expect, it } from "vitest";
import { compile } from "./compile.ts";
import { CelError } from "./values.ts";

const self = { name: "abc", count: 3, tags: ["a", "b"], nested: { on: true }, wait: "1h30m" };
const read = (text: string) => compile(text, ["self", "oldSelf"]);
const evaluate = (text: string): unknown => read(text).evaluate({ self });

describe("validation rules", () => {
  it.each([
    ["self.count == 3 && self.name == 'abc'", true],
    ["self.count > 3 || self.count < 1", false],
    ["!(self.count >= 3)", false],
    ["size(self.tags) == 2 && size(self.name) <= 3", true],
    ["'a' in self.tags", true],
    ["'on' in self.nested", true],
    ['self.tags[1] == "b"', true],
    ["has(self.nested.on) && !has(self.nested.off)", true],
    ["self.name.matches('^[a-c]+$')", true],
    ["self.name.startsWith('a') && self.name.endsWith('c') && self.name.contains('b')", true],
    ["duration(self.wait) == duration('90m')", true],
    ["duration('250ms') < duration('1s')", true],
    ["self.count > 2 ? 'many' : 'few'", "many"],
    ["self.count - 1 + 2", 4],
    ["-self.count < 0", true],
    ["self.name + '!'", "abc!"],
    ["[1, 2] + [3] == [1, 2, 3]", true],
    ["Object{name: self.name, spec: Object.spec{count: 1, tags: []}}", { name: "abc", spec: { count: 1, tags: [] } }],
    ["Object{}", {}],
    ["self.nested == {'on': true}.x", "refused"],
  ])("%s", (text, wanted) => {
    if (wanted === "refused") expect(() => read(text)).toThrow(CelError);
    else expect(evaluate(text)).toEqual(wanted);
  });

  it("know which names they mention", () => {
    expect(read("self.a == oldSelf.a").mentions("oldSelf")).toBe(true);
    expect(read("self.oldSelf == 1").mentions("oldSelf")).toBe(false);
  });

  it.each([
    "self.",
    "1 +",
    "(1",
    "self.x ==",
    "1 2",
    "self.all(x, x > 1)",
    "@",
    "other == 1",
    "Object{1: 2}",
    "Object{a: 1",
    "Object.spec",
  ])("refuse %s", (text) => {
    expect(() => read(text)).toThrow("compilation failed");
  });

  it.each([
    "self.missing",
    "self.tags[9]",
    "self.name < 3",
    "size(3)",
    "self.count && true",
    "duration('soon') > duration('1s')",
  ])("cannot work out %s", (text) => {
    expect(() => evaluate(text)).toThrow(CelError);
  });
});
