import { expect, it } from "vitest";
import { aTraceJob } from "../testing/builders.ts";
import { fairParts, Recorder } from "./recorder.ts";

const shape = (queue: string, cpu: number) => aTraceJob("j", { queue, asks: { cpu } }).shape;
const aRecorder = () =>
  new Recorder({
    resources: ["cpu"],
    capacity: [1000],
    queues: [
      { name: "one", weight: 1 },
      { name: "two", weight: 3 },
    ],
  });

it("averages over stretches of time, and joins them when there are many", () => {
  const recorder = aRecorder();
  recorder.pod(0, shape("one", 500), 1);
  recorder.pod(500_000, shape("one", 500), -1);
  recorder.demand(500_000, shape("one", 100), 1);
  const stretches = recorder.stretches(4_000_000);
  expect(stretches.length).toBeLessThanOrEqual(960);
  expect(stretches.reduce((sum, { ms }) => sum + ms, 0)).toBe(4_000_000);
  expect(stretches.reduce((sum, { ms, used }) => sum + ms * (used[0] ?? 0), 0)).toBeCloseTo(500 * 500_000, 0);
  expect(stretches.at(-1)).toMatchObject({ used: [0], demand: [100] });
});

it("counts what a queue got and was due while others waited, too", () => {
  const recorder = aRecorder();
  recorder.holds(0, shape("one", 500), 1);
  recorder.holds(0, shape("two", 500), 1);
  for (const queue of ["one", "two"]) recorder.waits(0, shape(queue, 900), 1);
  const [{ queues } = { queues: [] }] = recorder.stretches(1000);
  expect(queues).toMatchObject([
    { waiting: 1, share: 0.5, competing: 1, got: 0.5, due: 0.25 },
    { waiting: 1, share: 0.5, competing: 1, got: 0.5, due: 0.75 },
  ]);
});

it.each([
  [
    [1, 2, 1],
    [9, 9, 9],
    [0.25, 0.5, 0.25],
  ],
  [
    [1, 1, 2],
    [0.1, 9, 9],
    [0.1, 0.3, 0.6],
  ],
  [
    [1, 1, 1],
    [0.1, 0.2, 0.3],
    [0.1, 0.2, 0.3],
  ],
])("deals by weights %j to those who want %j", (weights, wants, parts) => {
  const rivals = weights.map((weight, i) => ({ i, weight, wants: wants[i] ?? 0 }));
  const dealt = fairParts(rivals, 1);
  for (const [i, part] of parts.entries()) expect(dealt.get(i)).toBeCloseTo(part, 9);
});
