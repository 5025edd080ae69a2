/**
 * Issue "Job semantics", proof 2: generated Jobs and pod events against kube-controller-manager and against ours. See
 * README.md beside this file for how to replay a seed.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createNodes } from "../harness/nodes.ts";
import { type LocalCluster, localCluster } from "../harness/real-cluster.ts";
import { Controllers } from "./controllers.ts";
import { coverageTable, featuresOf } from "./coverage.ts";
import { NODE } from "./generate-job.ts";
import { generateCase } from "./generate-steps.ts";
import type { Verdict } from "./match.ts";
import { Observer } from "./observer.ts";
import { type Case, describeCase } from "./script.ts";
import { Tournament } from "./tournament.ts";

const { JOBFERRY_DIFFERENTIAL_CASES, JOBFERRY_DIFFERENTIAL_SEED, JOBFERRY_DIFFERENTIAL_SELF } = process.env;
const count = Number(JOBFERRY_DIFFERENTIAL_CASES ?? (JOBFERRY_DIFFERENTIAL_SEED === undefined ? 40 : 1));
const firstSeed = Number(JOBFERRY_DIFFERENTIAL_SEED ?? (count === 40 ? 1 : Math.floor(Date.now() / 1000)));
const cases = Array.from({ length: count }, (_, i) => generateCase(firstSeed + i));
const limitMs = 300_000 + count * 4_000;
/** Every round waits out the patience of those that disagree. */
const shrinkLimitMs = 900_000;

const verdicts = new Map(cases.map(({ seed }) => [seed, Promise.withResolvers<Verdict>()]));
const stop = new AbortController();
let cluster: LocalCluster | undefined;
let controllers: Controllers | undefined;
let tournament: Tournament | undefined;
let finished: Promise<void> | undefined;

describe(`the built-in Job controller and ours agree on seeds ${firstSeed} to ${firstSeed + count - 1}`, () => {
  beforeAll(async () => {
    const self = JOBFERRY_DIFFERENTIAL_SELF === "1";
    cluster = await localCluster();
    await createNodes(cluster, [{ name: NODE }]);
    const observer = new Observer(cluster.api);
    await observer.start(stop.signal);
    controllers = new Controllers(cluster, !self);
    await controllers.start();
    const stage = { api: cluster.api, request: cluster.request, observer };
    tournament = new Tournament({ stage, controllers, self });
    finished = tournament.play(cases, (verdict) => verdicts.get(verdict.seed)?.resolve(verdict));
    finished.catch((error: unknown) => {
      for (const { reject } of verdicts.values()) reject(error);
    });
  });

  afterAll(async () => {
    stop.abort();
    await controllers?.stop();
    await cluster?.stop();
  });

  for (const play of cases) {
    test(`seed ${play.seed}`, { timeout: limitMs }, async () => {
      const verdict = await verdicts.get(play.seed)?.promise;
      expect(verdict?.disagreement.join("\n"), describeCase(play)).toBe("");
    });
  }

  test("the coverage of these cases", { timeout: limitMs }, async () => {
    await finished;
    const all = await played();
    const features = cases.map((play, i) => featuresOf(play, all[i] as Verdict));
    const bad = all.filter(disagrees).length;
    console.log(`differential: ${count} cases from seed ${firstSeed}, ${bad} disagree\n${coverageTable(features)}`);
    for (const { seed, explained, stuck } of all) {
      const remarks = [...explained, ...stuck.map((step) => `agreed on unfinished work: ${step}`)];
      for (const remark of remarks) console.log(`seed ${seed}: ${remark}`);
    }
    expect(all.map(({ seed }) => seed)).toEqual(cases.map(({ seed }) => seed));
  });

  test("no script disagrees, or these are the shortest that do", { timeout: shrinkLimitMs }, async () => {
    const all = await played();
    const bad = cases.filter((_, i) => disagrees(all[i] as Verdict));
    const showShortest = async (play: Case): Promise<void> => {
      const found = await tournament?.shrink(play);
      if (found) console.log(`${describeCase(found.play)}\n${found.verdict.disagreement.join("\n")}`);
    };
    await Promise.all(bad.slice(0, 3).map(showShortest));
    expect(bad.map(({ seed }) => seed)).toEqual([]);
  });
});

const played = (): Promise<Verdict[]> => Promise.all([...verdicts.values()].map(({ promise }) => promise));
const disagrees = ({ disagreement }: Verdict): boolean => disagreement.length > 0;
