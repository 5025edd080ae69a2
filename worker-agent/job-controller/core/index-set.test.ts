import { checkIndexes, firstOverlap } from "@jobferry/shared/job/index-grammar.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IndexSet } from "./index-set.ts";

describe("format (IX-3)", () => {
  const cases: [number[], string][] = [
    [[], ""],
    [[0], "0"],
    [[0, 1], "0,1"],
    [[1, 3, 4, 5, 7], "1,3-5,7"],
    [[7, 5, 4, 3, 1, 1], "1,3-5,7"],
    [[0, 1, 3, 4], "0,1,3,4"],
  ];
  test.each(cases)("%j -> %j", (indexes, want) => {
    expect(IndexSet.from(indexes).toString()).toBe(want);
  });
});

describe("lenient parse (IX-4)", () => {
  const cases: [string | undefined, number, string][] = [
    [undefined, 10, ""],
    ["", 10, ""],
    ["1,3-5,7", 10, "1,3-5,7"],
    ["1,3-5,7", 4, "1,3"],
    ["1,3-5,7", 5, "1,3,4"],
    ["0-99", 3, "0-2"],
    ["5,1", 5, ""],
    ["1,x,3", 10, "1,3"],
    ["1,2-x,3", 10, "1,3"],
    ["-3,4", 10, "4"],
    ["1-2-9", 10, "1,2"],
    ["0-1,2,3-4", 10, "0-4"],
    ["+1,02", 10, "1,2"],
    ["4,2", 10, "2,4"],
    ["5-3,6", 10, "6"],
    ["1", 0, ""],
  ];
  test.each(cases)("%j with %i completions -> %j", (text, completions, want) => {
    expect(IndexSet.parse(text, completions).toString()).toBe(want);
  });
});

describe("lowest missing indexes (IX-8)", () => {
  const cases: [string, number, number, number[]][] = [
    ["", 3, 10, [0, 1, 2]],
    ["", 3, 2, [0, 1]],
    ["0-4", 3, 10, [5, 6, 7]],
    ["1,3,4", 4, 10, [0, 2, 5, 6]],
    ["0-9", 3, 10, []],
    ["2", 0, 10, []],
    ["2-8", 9, 4, [0, 1]],
  ];
  test.each(cases)("%j, %i of %i -> %j", (text, count, completions, want) => {
    expect(IndexSet.parse(text, 1000).lowestMissing(count, completions)).toEqual(want);
  });
});

test("range is empty when it ends before it starts", () => {
  expect(IndexSet.range(2, 4).toString()).toBe("2-4");
  expect(IndexSet.range(0, -1).size).toBe(0);
});

const someIndexes = fc.array(fc.nat({ max: 60 }), { maxLength: 50 });
const sorted = (indexes: Iterable<number>) => [...indexes].sort((a, b) => a - b);

describe("properties", () => {
  test("behaves like a set of numbers", () => {
    fc.assert(
      fc.property(someIndexes, someIndexes, (left, right) => {
        const [a, b] = [new Set(left), new Set(right)];
        const [setA, setB] = [IndexSet.from(left), IndexSet.from(right)];
        expect([...setA]).toEqual(sorted(a));
        expect(setA.size).toBe(a.size);
        expect([...setA.union(setB)]).toEqual(sorted(new Set([...a, ...b])));
        expect([...setA.with(right)]).toEqual(sorted(new Set([...a, ...b])));
        expect(setA.intersectionSize(setB)).toBe([...a].filter((index) => b.has(index)).length);
        for (let i = -1; i <= 61; i++) expect(setA.has(i)).toBe(a.has(i));
        const missing = Array.from({ length: 40 }, (_, i) => i).filter((i) => !a.has(i));
        expect(setA.lowestMissing(7, 40)).toEqual(missing.slice(0, 7));
      }),
    );
  });

  test("format and parse are inverse (IX-3, IX-4)", () => {
    fc.assert(
      fc.property(someIndexes, (indexes) => {
        const set = IndexSet.from(indexes);
        expect([...IndexSet.parse(set.toString(), 61)]).toEqual([...set]);
      }),
    );
  });

  test("parsing with fewer completions forgets exactly the indexes at or above (IX-11)", () => {
    fc.assert(
      fc.property(someIndexes, fc.nat({ max: 61 }), (indexes, completions) => {
        const kept = [...IndexSet.parse(IndexSet.from(indexes).toString(), completions)];
        expect(kept).toEqual(sorted(new Set(indexes.filter((index) => index < completions))));
      }),
    );
  });

  test("parse never throws and stays in range", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."0123456789-,+ x") }),
        fc.nat({ max: 50 }),
        (text, completions) => {
          for (const index of IndexSet.parse(text, completions)) {
            expect(index).toBeGreaterThanOrEqual(0);
            expect(index).toBeLessThan(completions);
          }
        },
      ),
    );
  });
});

test("100,000 scattered indexes are handled in bulk", () => {
  const every2nd = Array.from({ length: 100_000 }, (_, i) => ((i * 7919) % 100_000) * 2);
  const set = IndexSet.from(every2nd);
  expect(set.size).toBe(100_000);
  const text = set.toString();
  expect(IndexSet.parse(text, 200_000).size).toBe(100_000);
  expect(set.lowestMissing(100_000, 200_000)).toHaveLength(100_000);
  expect(set.union(IndexSet.from(every2nd.map((index) => index + 1))).toString()).toBe("0-199999");
});

describe("strict and lenient readings", () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789-,,-"), maxLength: 12 });

  test("agree on everything the strict grammar accepts (IG-9)", () => {
    const ordered = fc
      .array(fc.nat({ max: 40 }), { maxLength: 30 })
      .map((indexes) => IndexSet.from(indexes).toString());
    fc.assert(
      fc.property(fc.oneof(text, ordered), fc.integer({ min: 0, max: 45 }), (value, completions) => {
        const strict = checkIndexes(value, completions);
        if ("count" in strict) expect(IndexSet.parse(value, completions).size).toBe(strict.count);
      }),
    );
  });

  test("controller output is always valid input (IG-9)", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 })), (indexes) => {
        const set = IndexSet.from(indexes);
        expect(checkIndexes(set.toString(), 41)).toEqual({ count: set.size });
      }),
    );
  });

  test("overlap equals set intersection on ordered strings (IG-8)", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 })), fc.array(fc.nat({ max: 40 })), (left, right) => {
        const [a, b] = [IndexSet.from(left), IndexSet.from(right)];
        const common = [...a].find((index) => b.has(index));
        expect(firstOverlap(a.toString(), b.toString(), 41)).toBe(common);
      }),
    );
  });
});
