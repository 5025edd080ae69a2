/**
 * Issue "Job semantics", proof 2: generated Jobs and pod events against kube-controller-manager and against ours. See
 * README.md beside this file for how to replay a seed.
 */
import type { RunningJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createNodes } from "../harness/nodes.ts";
import { type LocalCluster, localCluster } from "../harness/real-cluster.ts";
import { Controllers } from "./controllers.ts";
import { coverageTable, ESSENTIAL, featuresOf } from "./coverage.ts";
import { directedCases } from "./directed.ts";
import { NODE } from "./generate-job.ts";
import { generateCase } from "./generate-steps.ts";
import type { Verdict } from "./match.ts";
import { Observer } from "./observer.ts";
import { sabotaged } from "./sabotaged.ts";
import { type Case, describeCase, nameOf } from "./script.ts";
import { Tournament } from "./tournament.ts";

const { JOBFERRY_DIFFERENTIAL_CASES, JOBFERRY_DIFFERENTIAL_SEED, JOBFERRY_DIFFERENTIAL_SELF } = process.env;
/** The run of `npm test`: the same cases each time. */
const isFixed = JOBFERRY_DIFFERENTIAL_CASES === undefined && JOBFERRY_DIFFERENTIAL_SEED === undefined;
const count = Number(JOBFERRY_DIFFERENTIAL_CASES ?? (isFixed ? 30 : 1));
const firstSeed = Number(JOBFERRY_DIFFERENTIAL_SEED ?? (isFixed ? 1 : Math.floor(Date.now() / 1000)));
const ofSeed = (seed: number): Case => directedCases.find((play) => play.seed === seed) ?? generateCase(seed);
const cases: Case[] = [
  ...(isFixed ? directedCases : []),
  ...Array.from({ length: count }, (_, i) => ofSeed(firstSeed + i)),
];
const limitMs = 300_000 + cases.length * 4_000;
/** Every round waits out the patience of those that disagree. */
const shrinkLimitMs = 900_000;

const verdicts = new Map(cases.map(({ seed }) => [seed, Promise.withResolvers<Verdict>()]));
const stop = new AbortController();
let cluster: LocalCluster | undefined;
let controllers: Controllers | undefined;
let tournament: Tournament | undefined;
let finished: Promise<void> | undefined;
let broken: RunningJobController | undefined;
let found: Promise<Verdict> | undefined;

describe(`the built-in Job controller and ours agree on ${cases.length} cases, seeds ${firstSeed} to ${firstSeed + count - 1} among them`, () => {
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
    broken = await sabotaged.start(cluster.api);
    found = tournament.against(sabotaged.opponent, sabotaged.play);
    finished = tournament.play(cases, (verdict) => verdicts.get(verdict.seed)?.resolve(verdict));
    finished.catch((error: unknown) => {
      for (const { reject } of verdicts.values()) reject(error);
    });
  });

  afterAll(async () => {
    stop.abort();
    await Promise.all([controllers?.stop(), broken?.stop()]);
    await cluster?.stop();
  });

  for (const play of cases) {
    test(nameOf(play), { timeout: limitMs }, async () => {
      const verdict = await verdicts.get(play.seed)?.promise;
      expect(verdict?.disagreement.join("\n"), describeCase(play)).toBe("");
    });
  }

  test("the coverage of these cases", { timeout: limitMs }, async () => {
    await finished;
    const all = await played();
    const features = cases.map((play, i) => featuresOf(play, all[i] as Verdict));
    const bad = all.filter(disagrees).length;
    console.log(
      `differential: ${cases.length} cases, ${count} from seed ${firstSeed}, ${bad} disagree\n${coverageTable(features)}`,
    );
    for (const { seed, explained, stuck } of all) {
      const remarks = [...explained, ...stuck.map((step) => `agreed on unfinished work: ${step}`)];
      for (const remark of remarks) console.log(`seed ${seed}: ${remark}`);
    }
    expect(all.map(({ seed }) => seed)).toEqual(cases.map(({ seed }) => seed));
    if (isFixed) expect(ESSENTIAL.filter((feature) => !features.flat().includes(feature))).toEqual([]);
  });

  test("directed cases end as they are meant to", { timeout: limitMs }, async () => {
    const ended = (await played()).map(({ seed, reasons }) => [seed, reasons.at(-1)] as const);
    const directed = directedCases.filter(({ seed }) => verdicts.has(seed));
    expect(ended.filter(([seed]) => seed < 0)).toEqual(directed.map(({ seed, ends }) => [seed, ends]));
  });

  test("a controller with one broken rule is found out", { timeout: limitMs }, async () => {
    expect((await found)?.disagreement.join("\n")).toMatch(sabotaged.symptom);
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
