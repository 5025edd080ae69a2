import {
  CLUSTER_SELECTOR,
  ON_CLUSTER_LOST,
  ON_REFERENCE_CHANGE,
  PRIORITY,
  QUEUE_LABEL,
} from "@jobferry/shared/protocol/marks.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aHubJob } from "../testing/hub-job.ts";
import { readWishes } from "./wishes.ts";

const read = (annotations: Record<string, string>) => readWishes(aHubJob({ metadata: { annotations } }));

describe("readWishes", () => {
  it("has an answer for a Job without any", () => {
    expect(readWishes(aHubJob())).toMatchObject({
      wishes: { queue: "default", priority: undefined, clusterSelector: "", onClusterLost: undefined },
    });
  });

  it("reads what is there", () => {
    const annotations = { [PRIORITY]: "1000000", [CLUSTER_SELECTOR]: "zone=eu", [ON_CLUSTER_LOST]: "Wait" };
    const result = readWishes(aHubJob({ metadata: { annotations, labels: { [QUEUE_LABEL]: "night" } } }));
    expect(result).toMatchObject({ wishes: { queue: "night", priority: 1_000_000, onClusterLost: "Wait" } });
    if (!("wishes" in result)) return;
    expect(result.wishes.matchesCluster({ zone: "eu" })).toBe(true);
    expect(result.wishes.matchesCluster({ zone: "us" })).toBe(false);
  });

  it.each([
    ["a word", PRIORITY, "high"],
    ["below zero", PRIORITY, "-1"],
    ["2^53", PRIORITY, "9007199254740992"],
    ["one too many", PRIORITY, "1000001"],
    ["a fraction", PRIORITY, "1.5"],
    ["nothing", PRIORITY, ""],
    ["no selector", CLUSTER_SELECTOR, "zone in"],
    ["a selector of 65 requirements", CLUSTER_SELECTOR, Array.from({ length: 65 }, (_, i) => `!l${i}`).join(",")],
    ["a selector of 4,097 characters", CLUSTER_SELECTOR, `zone in (${"a,".repeat(2_043)}a)`],
    ["no policy", ON_CLUSTER_LOST, "redispatch"],
    ["no policy for changes", ON_REFERENCE_CHANGE, "wait"],
  ])("names the annotation that is %s", (_, annotation, text) => {
    expect(read({ [annotation]: text })).toEqual({ problems: [expect.stringContaining(annotation)] });
  });

  it("names all that is wrong at once", () => {
    expect(read({ [PRIORITY]: "x", [CLUSTER_SELECTOR]: "=", [ON_CLUSTER_LOST]: "y" })).toMatchObject({
      problems: { length: 3 },
    });
  });

  it("never throws and never answers at length", () => {
    const keys = fc.constantFrom(PRIORITY, CLUSTER_SELECTOR, ON_CLUSTER_LOST);
    fc.assert(
      fc.property(fc.dictionary(keys, fc.string({ maxLength: 5_000, size: "max" })), (annotations) => {
        const result = read(annotations);
        if ("problems" in result) expect(result.problems.join().length).toBeLessThan(2_000);
      }),
      { numRuns: 50 },
    );
  });
});
