import { type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import { beforeEach, expect, it } from "vitest";
import { News } from "./news.ts";

let now: number;
let news: News;

beforeEach(() => {
  now = 1_000_000;
  news = new News({ monotonic: () => now });
});

const mirror = (number: number): HubUid => hubUid.parse(`job-${number}`);

/** A cluster that ends a mirror every `everyMs`, with `atOnce` of them at a time: how long each has still to wait at its end. */
function leftAtTheEnd(everyMs: number, atOnce: number, count: number): number[] {
  const left: number[] = [];
  for (let number = 0; number < atOnce; number++) news.come(mirror(number));
  for (let number = 0; number < count; number++) {
    now += everyMs;
    left.push(news.waitMs(mirror(number)));
    // What has waited long enough has been told.
    for (let running = number; running < number + atOnce; running++)
      if (news.waitMs(mirror(running)) === 0) news.told(mirror(running));
    news.over(mirror(number));
    news.come(mirror(number + atOnce));
  }
  return left;
}

it("of one mirror waits a moment, and is there until it is told", () => {
  news.come(mirror(1));
  expect(news.waitMs(mirror(1))).toBe(250);
  now += 250;
  expect(news.waitMs(mirror(1))).toBe(0);
  news.come(mirror(1));
  expect(news.waitMs(mirror(1))).toBe(0);
  news.told(mirror(1));
  news.come(mirror(1));
  expect(news.waitMs(mirror(1))).toBe(250);
});

it("of a mirror whose pods are shown waits longer, but not when somebody waits for it", () => {
  news.come(mirror(1), { shown: true });
  news.come(mirror(2), { shown: true, known: true });
  expect([news.waitMs(mirror(1)), news.waitMs(mirror(2))]).toEqual([1_500, 1_500]);
  news.come(mirror(1), { shown: true, awaited: true });
  expect(news.waitMs(mirror(1))).toBe(250);
  // What was told is not remembered of the next news.
  news.told(mirror(1));
  news.come(mirror(1));
  expect(news.waitMs(mirror(1))).toBe(250);
});

it("of mirrors that come one after the other waits no longer", () => {
  for (let number = 0; number < 50; number++) {
    news.come(mirror(number));
    expect(news.waitMs(mirror(number))).toBe(250);
    now += 2_000;
    news.over(mirror(number));
  }
});

it.each([
  ["fast", 20, 100],
  ["slow", 200, 40],
  ["busy", 150, 5],
])("in a flood of short Jobs on a %s cluster waits until the mirror is over", (_, everyMs, atOnce) => {
  const left = leftAtTheEnd(everyMs, atOnce, 400);
  // The first ones come before it can be known for a flood.
  const early = left.slice(Math.max(atOnce, 20)).filter((ms) => ms === 0);
  expect(early).toEqual([]);
});

it("of Jobs that end now and then waits a moment", () => {
  expect(leftAtTheEnd(2_500, 4, 20)).toEqual(Array(20).fill(0));
});

it("in a flood of Jobs that do not end waits at most for the bound", () => {
  for (let number = 0; number < 5_000; number++) news.come(mirror(number));
  now += 29_000;
  expect(news.waitMs(mirror(0))).toBe(1_000);
  now += 1_000;
  expect(news.waitMs(mirror(0))).toBe(0);
});

it("that somebody waits for waits a moment, whatever the others do", () => {
  for (let number = 0; number < 5_000; number++) news.come(mirror(number));
  news.come(mirror(7), { awaited: true });
  expect(news.waitMs(mirror(7))).toBe(250);
  expect(news.waitMs(mirror(8))).toBe(30_000);
  news.told(mirror(7));
  news.come(mirror(7));
  expect(news.waitMs(mirror(7))).toBe(30_000);
});

it("of a mirror that the hub shows already waits a moment, whatever the newcomers do", () => {
  for (let number = 0; number < 5_000; number++) news.come(mirror(number));
  for (const number of [6_001, 6_002]) news.come(mirror(number), { known: true });
  expect(news.waitMs(mirror(6_001))).toBe(250);
  expect(news.waitMs(mirror(8))).toBe(30_000);
});

it("of many such mirrors is told ten times per second at most, until some have waited long enough", () => {
  for (let number = 0; number < 50; number++) news.come(mirror(number), { known: true });
  expect(news.waitMs(mirror(0))).toBe(5_000);
  for (let number = 50; number < 5_000; number++) news.come(mirror(number), { known: true });
  expect(news.waitMs(mirror(0))).toBe(30_000);
});

it("a flood that is over is forgotten", () => {
  leftAtTheEnd(20, 100, 400);
  for (let number = 400; number < 500; number++) news.over(mirror(number));
  now += 60_000;
  for (let number = 0; number < 10; number++) news.come(mirror(number));
  expect(news.waitMs(mirror(0))).toBe(3_000);
});
