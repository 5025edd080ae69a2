import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { realClock, sleep, timestamp } from "./clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("virtual timers fire in the order of their times, equal ones in the order of asking, cancelled ones never", async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  clock.after(20, () => fired.push("b"));
  clock.after(10, () => {
    fired.push("a");
    clock.after(5, () => fired.push("a2"));
  });
  const cancel = clock.after(15, () => fired.push("never"));
  clock.after(20, () => fired.push("c"));
  cancel();
  await clock.advance(19);
  expect(fired).toEqual(["a", "a2"]);
  await clock.advance(1);
  expect(fired).toEqual(["a", "a2", "b", "c"]);
  expect(clock.monotonic()).toBe(20);
});

test("a queue that asks for fractions of a millisecond moves on", async () => {
  const clock = new VirtualClock();
  let due = 0.0001;
  let [fired, asked] = [0, 0];
  const again = (): void => {
    if (clock.monotonic() >= due) {
      fired++;
      due = clock.monotonic() + 0.0001;
    }
    if (fired < 3 && ++asked < 100) clock.after(due - clock.monotonic(), again);
  };
  again();
  await clock.advance(3);
  expect(fired).toBe(3);
});

test("runUntil stops at the condition, and says when it cannot come", async () => {
  const clock = new VirtualClock();
  let count = 0;
  const again = (): void => {
    count++;
    clock.after(100, again);
  };
  again();
  await clock.runUntil(() => count === 5);
  expect(clock.monotonic()).toBe(400);
  await expect(clock.runUntil(() => false, 1000)).rejects.toThrow("within 1000 ms");
  await expect(new VirtualClock().runUntil(() => false)).rejects.toThrow("nothing is left to happen");
});

test("sleep ends with the time or with the signal, and leaves no listener", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const slept = sleep(clock, 10, controller.signal);
  await clock.advance(10);
  await slept;
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  const cut = sleep(clock, 10, controller.signal);
  controller.abort(new Error("enough"));
  await expect(cut).rejects.toThrow("enough");
  await expect(sleep(clock, 10, controller.signal)).rejects.toThrow("enough");
});

test("a real timer longer than Node's longest does not fire at once", async () => {
  let fired = false;
  const cancel = realClock.after(2 ** 32, () => {
    fired = true;
  });
  await new Promise<void>((resolve) => realClock.after(5, resolve) && setTimeout(() => {}, 20));
  expect(fired).toBe(false);
  cancel();
});

test("timestamps have whole seconds (SW-9)", () => {
  expect(timestamp(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe("2026-01-02T03:04:05Z");
});
