import { describe, expect, it } from "vitest";
import { parseFieldSelector } from "./fields.ts";

const object: Record<string, string> = { "metadata.name": "a", "spec.nodeName": "", odd: "x,y=z\\" };
const selects = (selector: string): boolean =>
  parseFieldSelector(selector)?.matches((field) => object[field] ?? "") ?? true;

describe("field selectors", () => {
  const cases: [string, boolean][] = [
    ["", true],
    ["metadata.name=a", true],
    ["metadata.name==a", true],
    ["metadata.name!=a", false],
    ["metadata.name=a,spec.nodeName=", true],
    ["spec.nodeName!=", false],
    ["odd=x\\,y\\=z\\\\", true],
  ];
  it.each(cases)("%s", (selector, wanted) => {
    expect(selects(selector)).toBe(wanted);
  });

  it.each([
    ["foo", "invalid selector: 'foo'; can't understand 'foo'"],
    ["a=b\\q", "invalid escape sequence"],
  ])("refuses %s", (selector, message) => {
    expect(() => parseFieldSelector(selector)).toThrow(message);
  });

  it("knows the one value a field may have", () => {
    expect(parseFieldSelector("metadata.name=a,b!=c")?.pinned("metadata.name")).toBe("a");
    expect(parseFieldSelector("metadata.name!=a")?.pinned("metadata.name")).toBeUndefined();
  });
});
