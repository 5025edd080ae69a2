import { expect, it } from "vitest";
import { aJob } from "../testing/builders.ts";
import { annotationWarnings } from "./annotation-warnings.ts";
import { EXIT_CODE_RANGES } from "./exit-code-ranges.ts";
import { MAX_UNCOUNTED_SECONDS } from "./uncounted-cap.ts";

const messages = (annotations: Record<string, string>) =>
  annotationWarnings(aJob().annotations(annotations).build()).map(({ message }) => message);

it("nothing is said without the annotations, or when they are right", () => {
  expect(annotationWarnings(aJob().build())).toEqual([]);
  expect(messages({ [MAX_UNCOUNTED_SECONDS]: "0.2", [EXIT_CODE_RANGES]: "{}" })).toEqual([]);
});

it("says which annotation is ignored, why, and how to write it", () =>
  expect(messages({ [MAX_UNCOUNTED_SECONDS]: "5", [EXIT_CODE_RANGES]: '{"0": "1-12"}' })).toEqual([
    'Ignored jobferry.dev/exit-code-ranges: "0" is not the position of an onExitCodes rule; write {"0": "1-12,100-127"}: the position of an onExitCodes rule in spec.podFailurePolicy.rules, then its codes and ranges in ascending order',
    'Ignored jobferry.dev/max-uncounted-seconds: its value is out of bounds or no number; write a number of seconds from 0.05 to 1 with at most three decimals, as "0.2"',
  ]));
