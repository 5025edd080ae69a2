import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { Paced } from "./paced.ts";

it("does the first at once, of those that come too soon the last, and each kind for itself", async () => {
  const clock = new VirtualClock();
  const paced = new Paced<object>(clock, 5_000);
  const [east, west] = [{}, {}];
  const done: string[] = [];
  const work = (what: string) => async (): Promise<void> => void done.push(`${clock.monotonic() / 1000} ${what}`);
  await paced.run(east, work("first"));
  await paced.run(east, work("second"));
  await paced.run(east, work("third"));
  await paced.run(west, work("other"));
  await clock.advance(4_900);
  expect(done).toEqual(["0 first", "0 other"]);
  await clock.advance(200);
  expect(done).toEqual(["0 first", "0 other", "5 third"]);
  await clock.advance(4_000);
  await paced.run(east, work("soon"));
  await clock.advance(5_000);
  await paced.run(east, work("late"));
  await clock.advance(2_000);
  expect(done.slice(3)).toEqual(["10 soon", "15 late"]);
  await paced.run(east, work("never"));
  paced.stop();
  await clock.advance(60_000);
  expect(done).toHaveLength(5);
});
