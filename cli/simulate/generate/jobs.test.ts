import { seededRandom } from "@jobferry/shared/runtime/random.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GPU } from "../trace/gpu-tasks.ts";
import { resample } from "../trace/resample.ts";
import { MODELS_OF_ONE, QUEUES, RUN_PARTS, RUN_SECONDS, SIZES } from "./figures.ts";
import { generateJobs } from "./jobs.ts";

const JOBS = 20_000;
const jobs = generateJobs(JOBS, 3_600_000, seededRandom(7));
const gpusOf = (each: (typeof jobs)[number]): number => each.shape.perPod.get(GPU) ?? 0;
/** Four standard deviations of a part of that many draws. */
const margin = (part: number, of: number): number => 4 * Math.sqrt((part * (1 - part)) / of) + 1e-9;

describe("generated Jobs have the figures' marginals", () => {
  it("sizes", () => {
    const all = SIZES.reduce((sum, [tasks]) => sum + tasks, 0);
    for (const [tasks, cpu, mib, gpus] of SIZES) {
      const alike = SIZES.filter((each) => each[1] === cpu && each[2] === mib && each[3] === gpus);
      const part = alike.reduce((sum, [weight]) => sum + weight, 0) / all;
      const found = jobs.filter(
        (each) =>
          each.shape.perPod.get("cpu") === cpu &&
          each.shape.perPod.get("memory") === mib * 2 ** 20 &&
          gpusOf(each) === gpus,
      );
      expect(Math.abs(found.length / JOBS - part), `${tasks} of ${cpu} ${mib} ${gpus}`).toBeLessThan(
        margin(part, JOBS),
      );
    }
  });

  it("queues and models", () => {
    const parts = <T>(rows: readonly (readonly [number, T])[]): [T, number][] => {
      const all = rows.reduce((sum, [weight]) => sum + weight, 0);
      return rows.map(([weight, value]) => [value, weight / all]);
    };
    for (const [queue, part] of parts(QUEUES))
      expect(Math.abs(jobs.filter(({ shape }) => shape.queue === queue).length / JOBS - part)).toBeLessThan(
        margin(part, JOBS),
      );
    const withOne = jobs.filter((each) => gpusOf(each) === 1);
    for (const [models, part] of parts(MODELS_OF_ONE)) {
      const found = withOne.filter(({ shape }) => (shape.nodeLabels[0]?.values.join("|") ?? "") === models);
      expect(Math.abs(found.length / withOne.length - part), models).toBeLessThan(margin(part, withOne.length));
    }
  });

  it("run times", () => {
    const withOne = jobs.filter((each) => gpusOf(each) === 1);
    for (const [i, part] of RUN_PARTS.entries()) {
      const seconds = RUN_SECONDS.one[i] ?? 0;
      // Where a quantile is reached by several parts, the highest counts.
      if (RUN_SECONDS.one[i + 1] === seconds) continue;
      const below = withOne.filter(({ runMs }) => runMs <= 1000 * seconds).length / withOne.length;
      expect(Math.abs(below - part), `${part}`).toBeLessThan(margin(part, withOne.length) + 0.01);
    }
  });

  it("arrivals: even over the time, in order", () => {
    const times = jobs.map(({ arrivalMs }) => arrivalMs);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect(Math.abs((times[JOBS / 2] ?? 0) / 3_600_000 - 0.5)).toBeLessThan(0.02);
  });
});

it("the same seed gives the same Jobs, another one others", () => {
  fc.assert(
    fc.property(fc.nat(1000), (seed) => {
      const [one, same, other] = [seed, seed, seed + 1].map((each) => generateJobs(20, 1000, seededRandom(each)));
      expect(one).toEqual(same);
      expect(one).not.toEqual(other);
    }),
    { numRuns: 20 },
  );
});

it("Jobs are drawn until they ask for the wanted part, and no further", () => {
  const drawn = resample(jobs, {
    resource: GPU,
    load: 1.3,
    capacity: 100,
    overMs: 86_400_000,
    random: seededRandom(3),
  });
  const asked = drawn.reduce((sum, { runMs, shape }) => sum + runMs * shape.pods * (shape.perPod.get(GPU) ?? 0), 0);
  expect(asked / (100 * 86_400_000)).toBeGreaterThanOrEqual(1.3);
  expect(asked / (100 * 86_400_000)).toBeLessThan(1.3 + (3 * 8) / 100);
  expect(new Set(drawn.map(({ name }) => name)).size).toBe(drawn.length);
});
