import fc from "fast-check";
import { expect, it } from "vitest";
import { aHubJob } from "../testing/hub-job.ts";
import { stopAfterSeconds, stoppedAfterMs } from "./stop-times.ts";

const WEEK_MS = 168 * 3_600_000;

function aJob(graceSeconds: number | undefined) {
  const job = aHubJob();
  const { spec: pod, ...template } = job.spec.template;
  if (pod === undefined || graceSeconds === undefined) return job;
  const spec = { ...pod, terminationGracePeriodSeconds: graceSeconds };
  return { ...job, spec: { ...job.spec, template: { ...template, spec } } };
}

it("leaves the pods their grace period and some slack, whatever lostAfter and grace are", () => {
  const grace = fc.integer({ min: 0, max: 7_200 });
  fc.assert(
    fc.property(fc.integer({ min: 30_000, max: WEEK_MS }), grace, (lostAfterMs, graceSeconds) => {
      const job = aJob(graceSeconds);
      const stopAfter = stopAfterSeconds(job, lostAfterMs);
      expect(stopAfter).toBeGreaterThanOrEqual(45);
      expect(stoppedAfterMs(job, stopAfter)).toBe((stopAfter + graceSeconds + 30) * 1000);
      // Where there is time enough, the Job moves at lostAfter and not later.
      if (lostAfterMs >= (45 + graceSeconds + 30) * 1000)
        expect(stoppedAfterMs(job, stopAfter)).toBeLessThanOrEqual(lostAfterMs);
    }),
  );
});

it.each([
  ["15m", 900_000, undefined, 600],
  ["2m", 120_000, undefined, 60],
  ["30s", 30_000, undefined, 45],
  ["15m and pods that take 10 minutes to end", 900_000, 600, 270],
])("lostAfter %s", (_, lostAfterMs, grace, stopAfter) => {
  expect(stopAfterSeconds(aJob(grace), lostAfterMs)).toBe(stopAfter);
});
