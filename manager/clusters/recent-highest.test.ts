import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { RecentHighest } from "./recent-highest.ts";

const MINUTE = 60_000;

async function heard(...values: (readonly [minutes: number, value: number])[]): Promise<number> {
  const clock = new VirtualClock();
  const recent = new RecentHighest(clock);
  for (const [minutes, value] of values) {
    recent.note(value);
    await clock.advance(minutes * MINUTE);
  }
  return recent.value;
}

it("says nothing before it has listened for a while", async () => {
  expect(await heard([1, 500])).toBe(Number.POSITIVE_INFINITY);
});

it("is the highest number, while the cluster counts on", async () => {
  expect(await heard([1, 500], [1, 700], [1, 900])).toBe(900);
});

it("falls some minutes after the cluster's numbers have fallen", async () => {
  expect(await heard([1, 9_000], [1, 100], [1, 110])).toBe(9_000);
  expect(await heard([1, 9_000], [2, 100], [2, 110], [1, 120])).toBe(120);
});

it("says nothing about a cluster that was not heard for long", async () => {
  expect(await heard([1, 9_000], [10, 100])).toBe(Number.POSITIVE_INFINITY);
});
