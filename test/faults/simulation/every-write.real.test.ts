/** A manager or agent is struck at some of the writes of every life; at all of them at night. */
import { expect, it } from "vitest";
import { line, strikeAll } from "./strikes.ts";

const LIMIT = { timeout: 1_200_000 };

it("a Job survives whatever strikes a manager or agent at a write, and what follows (a sample)", LIMIT, async () => {
  const tallies = await strikeAll({ every: 13, pairsEvery: 223 });
  console.log(tallies.map(line).join("\n"));
  expect(tallies.flatMap(({ life, broken }) => broken.map((what) => `${life}: ${what}`))).toEqual([]);
  for (const { writes } of tallies) expect(Math.min(writes.manager, writes.agent)).toBeGreaterThan(2);
  expect(tallies.reduce((sum, { singles, pairs }) => sum + singles + pairs, 0)).toBeGreaterThan(120);
});
