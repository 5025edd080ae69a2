import { expect, it } from "vitest";
import { aHubJob } from "../testing/hub-job.ts";
import { sizeProblem } from "./size.ts";

const withNote = (bytes: number) => aHubJob({ metadata: { annotations: { note: "x".repeat(bytes) } } });

it("lets pass what a delivery can carry, and names the size of what it cannot", () => {
  expect(sizeProblem(withNote(1_500_000))).toBeUndefined();
  expect(sizeProblem(withNote(1_510_000))).toMatch(/takes 1510\d{3} bytes as JSON.*1507328.*smaller/);
});

it("counts bytes, not characters", () => {
  const job = aHubJob({ metadata: { annotations: { note: "ä".repeat(800_000) } } });
  expect(sizeProblem(job)).toMatch(/takes 1600\d{3} bytes/);
});
