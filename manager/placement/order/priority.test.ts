import { expect, test } from "vitest";
import { type PriorityFacts, priorityOf } from "./priority.ts";

test.each<[string, Partial<PriorityFacts>, number]>([
  ["nothing said", {}, 0],
  ["the Job's own word", { asked: 7 }, 7],
  ["the PriorityClass by default", { ofClass: 500 }, 500],
  ["the Job's own word before the class", { asked: 0, ofClass: 500 }, 0],
  ["a class of the system", { ofClass: 2_000_001_000 }, 1_000_000],
  ["a class below zero", { ofClass: -10 }, 0],
  ["more than the queue allows", { asked: 1_000_000, most: 100 }, 100],
  ["a queue that allows none", { asked: 5, most: 0 }, 0],
  ["a queue that allows more than there is", { asked: 2_000_000, most: 3_000_000 }, 1_000_000],
])("%s", (_, facts, expected) => {
  expect(priorityOf({ asked: undefined, ofClass: undefined, most: undefined, ...facts })).toBe(expected);
});
