/** What is said about extension annotations that are ignored because their value is wrong. */
import type { Job } from "@jobferry/shared/job/types.ts";
import { EXIT_CODE_RANGES, EXIT_CODE_RANGES_HELP, readExitCodeRanges } from "./exit-code-ranges.ts";
import type { EventNote } from "./types.ts";
import { MAX_UNCOUNTED_SECONDS, MAX_UNCOUNTED_SECONDS_HELP, uncountedCapMs } from "./uncounted-cap.ts";

export function annotationWarnings(job: Job): EventNote[] {
  const warnings: EventNote[] = [];
  const ranges = readExitCodeRanges(job);
  if ("problem" in ranges) warnings.push(ignored(EXIT_CODE_RANGES, ranges.problem, EXIT_CODE_RANGES_HELP));
  if (job.metadata.annotations?.[MAX_UNCOUNTED_SECONDS] !== undefined && uncountedCapMs(job) === undefined)
    warnings.push(
      ignored(MAX_UNCOUNTED_SECONDS, "its value is out of bounds or no number", MAX_UNCOUNTED_SECONDS_HELP),
    );
  return warnings;
}

const ignored = (annotation: string, problem: string, help: string): EventNote => ({
  type: "Warning",
  reason: "InvalidAnnotation",
  message: `Ignored ${annotation}: ${problem}; ${help}`,
});
