import { describe, expect, it } from "vitest";
import { frozenCopy } from "../store/frozen.ts";
import { JsonPatchError, jsonPatch } from "./json.ts";

const document = frozenCopy({ a: { b: [1, 2, 3] }, "x/y~z": 1, n: null });

describe("JSON patch", () => {
  const cases: [string, object, unknown][] = [
    ["add to an object", { op: "add", path: "/a/c", value: 4 }, { a: { b: [1, 2, 3], c: 4 } }],
    ["add to the end of a list", { op: "add", path: "/a/b/-", value: 4 }, { a: { b: [1, 2, 3, 4] } }],
    ["insert into a list", { op: "add", path: "/a/b/1", value: 9 }, { a: { b: [1, 9, 2, 3] } }],
    ["replace in a list", { op: "replace", path: "/a/b/0", value: 9 }, { a: { b: [9, 2, 3] } }],
    ["replace what is not there", { op: "replace", path: "/a/new", value: 9 }, { a: { b: [1, 2, 3], new: 9 } }],
    ["remove from a list", { op: "remove", path: "/a/b/1" }, { a: { b: [1, 3] } }],
    ["count from the end", { op: "remove", path: "/a/b/-1" }, { a: { b: [1, 2] } }],
    ["escapes", { op: "replace", path: "/x~1y~0z", value: 2 }, { "x/y~z": 2 }],
    ["copy", { op: "copy", from: "/a/b/0", path: "/c" }, { c: 1 }],
    ["move", { op: "move", from: "/a/b", path: "/c" }, { a: {}, c: [1, 2, 3] }],
    ["test", { op: "test", path: "/a", value: { b: [1, 2, 3] } }, { a: { b: [1, 2, 3] } }],
  ];
  it.each(cases)("%s", (_, operation, wanted) => {
    expect(jsonPatch(document, [operation])).toMatchObject(wanted as object);
    expect(document.a.b).toEqual([1, 2, 3]);
  });

  it.each([
    ["a failing test", { op: "test", path: "/a", value: 1 }],
    ["removing nothing", { op: "remove", path: "/a/q" }],
    ["a missing parent", { op: "add", path: "/q/r", value: 1 }],
    ["a position beyond the end", { op: "add", path: "/a/b/9", value: 1 }],
    ["a position that is none", { op: "replace", path: "/a/b/x", value: 1 }],
    ["an unknown operation", { op: "swap", path: "/a" }],
    ["no pointer", { op: "add", path: "a", value: 1 }],
    ["copying nothing", { op: "copy", from: "/q", path: "/r" }],
  ])("refuses %s", (_, operation) => {
    expect(() => jsonPatch(document, [operation])).toThrow(JsonPatchError);
  });

  it("is bounded", () => {
    const many = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/n", value: null }));
    expect(() => jsonPatch(document, many)).toThrow("maximum operations");
  });
});
