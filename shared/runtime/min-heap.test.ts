import fc from "fast-check";
import { expect, test } from "vitest";
import { MinHeap } from "./min-heap.ts";

test("gives everything back in order, however adding and taking mix", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (steps) => {
      const heap = new MinHeap<number>((a, b) => a < b);
      const model: number[] = [];
      for (const step of steps) {
        if (step !== null) {
          heap.push(step);
          model.push(step);
          model.sort((a, b) => a - b);
        } else {
          expect(heap.pop()).toBe(model.shift());
        }
        expect([heap.size, heap.peek()]).toEqual([model.length, model[0]]);
      }
      while (model.length > 0) expect(heap.pop()).toBe(model.shift());
    }),
  );
});
