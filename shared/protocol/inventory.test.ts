import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssignmentRef } from "./delivery.ts";
import { pagesOf, RoundCollector, RoundNames } from "./inventory.ts";
import { epoch, hubUid } from "./names.ts";

const refs = (count: number): AssignmentRef[] =>
  Array.from({ length: count }, (_, index) => ({ uid: hubUid.parse(`u${index}`), epoch: epoch.parse(1) }));
const pages = (round: string, items: AssignmentRef[], size: number) =>
  pagesOf(items, size).map((page, index, all) => ({ round, page: index + 1, pages: all.length, items: page }));

describe("RoundCollector", () => {
  it("has all items after the last page, in whatever order and however often pages come", () => {
    const order = fc.integer({ min: 0, max: 20 }).chain((count) => {
      const list = pages("a:1", refs(count), 3);
      return fc.tuple(fc.constant(count), fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 }));
    });
    fc.assert(
      fc.property(order, ([count, arriving]) => {
        const collector = new RoundCollector<AssignmentRef>();
        const complete = arriving.map((page) => collector.add(page)).filter((items) => items !== undefined);
        expect(complete).toHaveLength(1);
        expect(new Set(complete[0]?.map(({ uid }) => uid)).size).toBe(count);
      }),
    );
  });

  it("an empty list is one empty page", () => {
    expect(pagesOf([])).toEqual([[]]);
  });

  it("another round overtakes an unfinished one, also that of another sender", () => {
    const collector = new RoundCollector<AssignmentRef>();
    const [first, second] = pages("a:57", refs(2), 1);
    const [anew] = pages("b:1", refs(1), 1);
    if (first === undefined || second === undefined || anew === undefined) throw new Error("pages are missing");
    expect(collector.add(first)).toBeUndefined();
    expect(collector.add(anew)).toHaveLength(1);
    expect(collector.add(second)).toBeUndefined();
  });

  it("keeps pages of two senders apart that count alike", () => {
    const collector = new RoundCollector<AssignmentRef>();
    const [before] = pages(new RoundNames("one").next(), refs(2), 1);
    const [, after] = pages(new RoundNames("other").next(), refs(2), 1);
    if (before === undefined || after === undefined) throw new Error("pages are missing");
    expect(collector.add(before)).toBeUndefined();
    expect(collector.add(after)).toBeUndefined();
  });

  it("keeps what is named again and again but once: an agent cannot fill memory with pages", () => {
    const collector = new RoundCollector<AssignmentRef>();
    const [item] = refs(1);
    if (item === undefined) throw new Error("an item is missing");
    const items = Array.from({ length: 1_000 }, () => ({ ...item }));
    for (let page = 1; page < 100; page++) collector.add({ round: "a:1", page, pages: 100, items });
    expect(collector.add({ round: "a:1", page: 100, pages: 100, items })).toEqual([item]);
  });
});
