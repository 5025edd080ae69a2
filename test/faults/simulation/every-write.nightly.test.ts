/** A manager or agent is struck at every write of every life: killed before and after it, or left without an answer; then once more. */
import { expect, it } from "vitest";
import { line, strikeAll } from "./strikes.ts";

it("a Job survives whatever strikes a manager or agent at any write, and what follows", {
  timeout: 7_200_000,
}, async () => {
  const tallies = await strikeAll({ every: 1, pairsEvery: 1 }, (tally) => console.log(line(tally)));
  expect(tallies.flatMap(({ life, broken }) => broken.map((what) => `${life}: ${what}`))).toEqual([]);
});
