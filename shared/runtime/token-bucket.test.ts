import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("lets a burst through, then the rate, and fills up again no further than the burst", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket(clock, { perSecond: 10, burst: 3 });
  const taken = (): number => {
    let count = 0;
    while (bucket.tryTake()) count++;
    return count;
  };
  expect(taken()).toBe(3);
  await clock.advance(99);
  expect(taken()).toBe(0);
  await clock.advance(1);
  expect(taken()).toBe(1);
  await clock.advance(60_000);
  expect(taken()).toBe(3);
});

test("those who wait are served in order, one interval apart", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket(clock, { perSecond: 10, burst: 1 });
  const served: string[] = [];
  for (const name of ["a", "b", "c"]) void bucket.take(1000).then(() => served.push(`${name} at ${clock.monotonic()}`));
  await clock.advance(1000);
  expect(served).toEqual(["a at 0", "b at 100", "c at 200"]);
});

test("a wait beyond the limit is refused at once and takes nothing", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket(clock, { perSecond: 1, burst: 1 });
  expect(await bucket.take(0)).toBe(true);
  expect(await bucket.take(999)).toBe(false);
  await clock.advance(1000);
  expect(await bucket.take(0)).toBe(true);
});
