/** `fits` against kube-scheduler: on generated nodes both find a place for the same number of generated pods. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { coverageTable } from "../differential/coverage.ts";
import { type LocalCluster, localCluster } from "../harness/real-cluster.ts";
import { featuresOf } from "./coverage.ts";
import { type Case, generateCase } from "./generate.ts";
import { boundByScheduler, fitsByUs } from "./verdicts.ts";

// JOBFERRY_PLACEMENT_CASES=500 is the nightly size, from a new first seed; JOBFERRY_PLACEMENT_SEED replays from that seed.
const { JOBFERRY_PLACEMENT_CASES: size, JOBFERRY_PLACEMENT_SEED: first } = process.env;
/** Each rule that was broken on purpose (README.md) changes what becomes of some of these. */
const SHARP = [
  11, 18, 29, 34, 41, 60, 79, 89, 110, 119, 165, 248, 255, 319, 365, 372, 384, 428, 547, 559, 590, 753, 808, 861, 886,
  965, 1146, 1393,
];
const OTHERS = 36;
const seeds =
  size === undefined && first === undefined
    ? [...SHARP, ...upFrom(1, OTHERS)]
    : upFrom(Number(first ?? Math.floor(Date.now() / 1000)), Number(size ?? 1));
const cases = [...new Set(seeds)].map(generateCase);

function upFrom(seed: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => seed + i);
}

/** On these nodes nothing stands in the way that could go away. */
const isAtRest = ({ nodes, loads }: Case): boolean =>
  loads.length === 0 &&
  nodes.every(
    ({ spec }) => !spec?.unschedulable && spec?.taints?.every(({ key }) => !key.startsWith("node.kubernetes.io/")),
  );

describe(`kube-scheduler and we agree on ${cases.length} cases`, () => {
  let cluster: LocalCluster;
  let bound: Map<number, number>;

  beforeAll(
    async () => {
      cluster = await localCluster();
      bound = await boundByScheduler(cluster, cases);
    },
    300_000 + cases.length * 2_000,
  );

  afterAll(() => cluster?.stop());

  test.each(cases.map((play) => [play.seed, play] as const))("seed %i", (seed, play) => {
    const fit = fitsByUs(play);
    const asked = JSON.stringify(play, null, 1);
    expect(fit.now, `${fit.obstacle ?? "we see no obstacle"}\n${asked}`).toBe(bound.get(seed));
    expect(fit.obstacle === undefined, asked).toBe(fit.now > 0);
    expect(fit.ever, asked).toBeGreaterThanOrEqual(fit.now);
    if (isAtRest(play)) expect(fit.ever, asked).toBe(fit.now);
  });

  test("the coverage of these cases", () => {
    const features = cases.map((play) => featuresOf(play, bound.get(play.seed) ?? 0));
    console.log(
      `placement: ${cases.length} cases, seeds ${Math.min(...seeds)} to ${Math.max(...seeds)}\n${coverageTable(features)}`,
    );
    if (cases.length < 50) return;
    const seen = new Set(features.flat());
    for (const verdict of ["none bound", "some bound", "all bound"]) expect(seen).toContain(`verdict: ${verdict}`);
  });
});
