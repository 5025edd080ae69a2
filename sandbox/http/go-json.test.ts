import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GoSyntaxError, scanJson } from "./go-json.ts";

describe("JSON as Go reads it", () => {
  it.each([
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ['{"a":', "unexpected end of JSON input"],
    ["hello", "invalid character 'h' looking for beginning of value"],
    ["{bad", "invalid character 'b' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a"}', "invalid character '}' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["{} x", "invalid character 'x' after top-level value"],
    ["nul!", "invalid character '!' in literal null (expecting 'l')"],
    ["-x", "invalid character 'x' in numeric literal"],
    ["1.x", "invalid character 'x' after decimal point in numeric literal"],
    ["1ex", "invalid character 'x' in exponent of numeric literal"],
    ['"\\q"', "invalid character 'q' in string escape code"],
    ['"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\n' in string literal"],
  ])("refuses %j", (text, message) => {
    expect(() => scanJson(text)).toThrow(new GoSyntaxError(message));
  });

  it("accepts exactly what JavaScript accepts", () => {
    fc.assert(fc.property(fc.json(), (text) => scanJson(text) !== undefined));
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ut01.-e ') }), (text) => {
        expect(accepts(() => scanJson(text))).toBe(accepts(() => JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it("notices keys that come twice in one object", () => {
    expect(scanJson('{"a":{"b":1,"b":2},"c":[{"d":1},{"d":1,"d":2}],"a":0}')).toEqual(["a.b", "c[1].d", "a"]);
  });
});

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}
