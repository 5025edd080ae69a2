import fc from "fast-check";
import { expect, it } from "vitest";
import { copiesIn, copyName, cutIntoPieces, formatContents, joinPieces, parseContents } from "./contents.ts";

const HASH = "0123456789abcdef".repeat(4);
const texts = fc.dictionary(fc.string(), fc.string({ unit: "binary" }));
const metadata = { name: "x" };

it("contents come out as they went in, whatever is in them, in pieces of any size", () => {
  fc.assert(
    fc.property(texts, texts, fc.integer({ min: 100, max: 400 }), (data, binaryData, size) => {
      const text = formatContents({ metadata, data, binaryData });
      const pieces = cutIntoPieces(text, size);
      fc.pre(pieces !== undefined);
      const back = parseContents(joinPieces(pieces ?? []));
      expect({ data: back.data ?? {}, binaryData: back.binaryData ?? {} }).toEqual({ data, binaryData });
    }),
  );
});

it("the order of keys and the metadata make no difference", () => {
  const one = formatContents({ metadata, type: "t", data: { a: "1", b: "2" } });
  const other = formatContents({
    metadata: { name: "y", uid: "u" },
    immutable: true,
    data: { b: "2", a: "1" },
    type: "t",
  });
  expect(one).toBe(other);
  expect(one).not.toBe(formatContents({ metadata, type: "t", data: { a: "1", b: "3" } }));
  expect(formatContents({ metadata, data: { a: "1" } })).not.toBe(formatContents({ metadata, binaryData: { a: "1" } }));
});

it("a Secret of 1 MiB fits, even of characters that JSON writes with six", () => {
  expect(cutIntoPieces(formatContents({ metadata, data: { a: "A".repeat(1_398_104) } }))).toHaveLength(4);
  expect(cutIntoPieces(formatContents({ metadata, data: { a: "\u0001".repeat(1_048_576) } }))?.length).toBe(17);
});

it("what no API server stores is not cut", () => {
  expect(cutIntoPieces("x".repeat(8_000_000))).toBeUndefined();
});

it.each(["", "null", "[]", '{"data":{"a":1}}', '{"stringData":{}}', '{"data":'])(
  "%s is not taken for contents, and the error does not quote it",
  (text) => {
    expect(() => parseContents(text)).toThrow(/^not the contents of a ConfigMap or Secret$/);
  },
);

it.each([
  ["settings", "settings-0123456789"],
  ["a", "a-0123456789"],
  ["b".repeat(242), `${"b".repeat(242)}-0123456789`],
])("the copy of %s is named after it and its contents", (name, copy) => {
  expect(copyName(name, HASH)).toBe(copy);
});

it("the copies of long names are cut, and differ where the names do", () => {
  const [one = "", two = "", dot = ""] = ["1", "2", ".b"].map((end) => copyName(`${"a".repeat(251)}${end}`, HASH));
  expect(copyName(`${"a".repeat(241)}.b`, HASH)).toMatch(/^a{241}-[0-9a-f]{10}$/);
  for (const name of [one, two, dot]) expect(name).toMatch(/^a{242}-[0-9a-f]{10}$/);
  expect(new Set([one, two, dot]).size).toBe(3);
});

it("a key named __proto__ is a key like any other", () => {
  const text = '{"data":{"__proto__":"a","b":"c"}}';
  expect(formatContents(parseContents(text) as Parameters<typeof formatContents>[0])).toBe(text);
});

it("the copies of a template are found by their names", () => {
  const volumes = ["plain", "words-0123456789"].map((name) => ({ name: "v", configMap: { name } }));
  const template = { spec: { containers: [], volumes, serviceAccountName: "robot-0123456789" } };
  expect(copiesIn(template)).toEqual([{ kind: "ConfigMap", name: "words-0123456789" }]);
});
