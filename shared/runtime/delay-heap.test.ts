import fc from "fast-check";
import { expect, test } from "vitest";
import { DelayHeap } from "./delay-heap.ts";

test("keys come out in the order of their earliest times, each once", () => {
  const added = fc.array(fc.record({ key: fc.constantFrom(..."abcdefgh"), due: fc.integer({ min: 0, max: 50 }) }));
  fc.assert(
    fc.property(added, (adds) => {
      const heap = new DelayHeap();
      const model = new Map<string, number>();
      for (const { key, due } of adds) {
        heap.add(key, due);
        model.set(key, Math.min(due, model.get(key) ?? Number.POSITIVE_INFINITY));
      }
      expect(heap.size).toBe(model.size);
      const out: string[] = [];
      for (let key = heap.takeDue(50); key !== undefined; key = heap.takeDue(50)) out.push(key);
      expect(out.toSorted()).toEqual([...model.keys()].toSorted());
      const times = out.map((key) => model.get(key) ?? -1);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }),
  );
});

test("nothing comes out before its time", () => {
  const heap = new DelayHeap();
  heap.add("a", 10);
  expect(heap.takeDue(9)).toBeUndefined();
  expect(heap.nextDue()).toBe(10);
  expect(heap.takeDue(10)).toBe("a");
  expect(heap.nextDue()).toBeUndefined();
});

test("a key brought forward again and again comes out once each time", () => {
  const heap = new DelayHeap();
  for (let round = 0; round < 1000; round++) {
    heap.add("a", 1_000_000);
    heap.add("a", round);
    expect(heap.takeDue(round)).toBe("a");
  }
  expect(heap.size).toBe(0);
  expect(heap.takeDue(2_000_000)).toBeUndefined();
});
