import { expect, it } from "vitest";
import { type Figures, page } from "./page.ts";

const task = (outcome: string) => ({ outcome, pods: 1, seconds: 1, said: [] });
const tasks = (good: number, bad: number) => [
  ...Array.from({ length: good }, () => task("success")),
  ...Array.from({ length: bad }, (_, at) => task(`AirflowException: No pods running with labels task=${at}`)),
];

const figures = (over: Partial<Figures> = {}): Figures => ({
  ...{ began: new Date(0), tookSeconds: 1, load: 0, kubernetes: "v1" },
  idle: tasks(99, 1),
  bursts: [
    { patient: false, jobs: 500, seconds: 20, outcomes: tasks(3, 4) },
    { patient: true, jobs: 500, seconds: 20, outcomes: tasks(5, 0) },
  ],
  ...over,
});

it("says how many tasks find their pods, and why the others fail", () => {
  const text = page(figures(), "");
  expect(text).toContain("| 99 of 100 | 99 of 100 | yes |");
  expect(text).toContain("| during bursts of 500 other Jobs, defaults | 3 of 7 |");
  expect(text).toContain("4 x AirflowException: No pods running |");
});

it("two of a hundred are too many, and one with many retries", () => {
  expect(page(figures({ idle: tasks(98, 2) }), "")).toContain("| 98 of 100 | 99 of 100 | **no** |");
  const bursts = [{ patient: true, jobs: 500, seconds: 20, outcomes: tasks(5, 1) }];
  expect(page(figures({ bursts }), "")).toContain("| 5 of 6 | all | **no** |");
});
