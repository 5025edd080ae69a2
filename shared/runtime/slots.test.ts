import { expect, it } from "vitest";
import { Slots } from "./slots.ts";

it("runs at most that many at a time, each in its turn, whether they fail or not", async () => {
  const slots = new Slots(2);
  const began: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const all = Array.from({ length: 5 }, (_, index) => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return slots.run(async () => {
      began.push(index);
      await end.promise;
      if (index === 0) throw new Error("no");
      return index;
    });
  });
  const outcome = Promise.allSettled(all);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(began).toEqual([0, 1]);
  ends[0]?.resolve();
  await settle();
  expect(began).toEqual([0, 1, 2]);
  for (const end of ends) end.resolve();
  expect((await outcome).map(({ status }) => status)).toEqual(["rejected", ...Array(4).fill("fulfilled")]);
  expect(began).toEqual([0, 1, 2, 3, 4]);
});
