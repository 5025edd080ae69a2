/** A Job that needs whole nodes, under a stream of small ones that would take each bit of room before it adds up. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Simulation } from "../engine/simulation.ts";
import type { NodeKind } from "../fleet/fleet.ts";
import { aFleet, aTraceJob, nodes } from "../testing/builders.ts";
import type { TraceJob } from "../trace/trace-job.ts";

const HOURS = 1.2;
const RESERVE_AFTER = 600;
const BIG_AT = 900;
const LONGEST_SMALL = 600;
/** Reports of the nodes are a minute apart at most, two are needed, and a look is made every five seconds. */
const REPORTS = 180;
const LIMIT = { timeout: 300_000 };

interface World {
  /** CPUs of a node, by the nodes of each cluster. */
  readonly clusters: readonly (readonly number[])[];
  readonly small: readonly { readonly cpu: number; readonly run: number }[];
  /** The largest nodes it takes whole, and how many at once. */
  readonly pods: number;
  readonly sameQueue: boolean;
}

const world: fc.Arbitrary<World> = fc
  .record({
    clusters: fc.array(fc.array(fc.constantFrom(4, 8), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    small: fc.array(
      fc.record({ cpu: fc.integer({ min: 1, max: 3 }), run: fc.integer({ min: 60, max: LONGEST_SMALL }) }),
      {
        minLength: 3,
        maxLength: 10,
      },
    ),
    pods: fc.integer({ min: 1, max: 2 }),
    sameQueue: fc.boolean(),
  })
  .map((drawn) => ({
    ...drawn,
    pods: Math.min(drawn.pods, Math.max(...drawn.clusters.map((each) => largest(each).length))),
  }));

const largest = (cpus: readonly number[]): number[] => cpus.filter((cpu) => cpu === Math.max(...cpus));

/** A quarter more than there is, all the time. */
function stream({ clusters, small }: World): TraceJob[] {
  const cpus = clusters.flat().reduce((sum, cpu) => sum + cpu, 0);
  const jobs: TraceJob[] = [];
  for (let at = 0, i = 0; at < HOURS * 3600; i++) {
    const { cpu, run } = small[i % small.length] ?? { cpu: 1, run: 60 };
    jobs.push(aTraceJob(`small-${i}`, { arrival: at, run, asks: { cpu: cpu * 1000 }, queue: "small" }));
    at += (cpu * run) / (1.25 * cpus);
  }
  return jobs;
}

/** How long the large Job waited; undefined: it was never placed. */
function waitOf(drawn: World, reserveAfter: string | undefined): { wait: number | undefined; wrong: number } {
  const { clusters, pods, sameQueue } = drawn;
  const cpu = Math.max(...clusters.flat());
  const fitting = clusters.filter((each) => each.filter((has) => has === cpu).length >= pods);
  // A gang needs one cluster that has enough of the largest nodes.
  const needed = fitting.length > 0 ? pods : 1;
  const queue = sameQueue ? "small" : "large";
  const big = aTraceJob("big", {
    arrival: BIG_AT,
    run: 60,
    asks: { cpu: cpu * 1000 },
    pods: needed,
    gang: true,
    queue,
  });
  const jobs = [...stream(drawn), big].sort((one, other) => one.arrivalMs - other.arrivalMs);
  const kinds = clusters.map((each): NodeKind[] => each.map((has) => nodes(1, { cpu: has * 1000 })));
  const spec = reserveAfter === undefined ? {} : { reserveAfter };
  const fleet = aFleet(Object.fromEntries(kinds.map((each, i) => [`c${i}`, each])), { small: spec, large: spec });
  let wait: number | undefined;
  const onPlaced = ({ name, arrivalMs }: TraceJob, atMs: number): void => {
    if (name === "big") wait ??= (atMs - arrivalMs) / 1000;
  };
  const outcome = new Simulation({ fleet, jobs, endsWithArrivals: true, onPlaced }).run();
  return { wait, wrong: outcome.wrong.length };
}

describe("a Job that needs whole nodes, while small ones keep coming", () => {
  const example: World = {
    clusters: [[8, 8, 8]],
    small: [
      { cpu: 1, run: 300 },
      { cpu: 2, run: 500 },
      { cpu: 1, run: 120 },
    ],
    pods: 1,
    sameQueue: false,
  };

  it("never starts without reserveAfter", () => {
    expect(waitOf(example, undefined).wait).toBeUndefined();
  });

  it("starts with it, once what ran then has ended", () => {
    const { wait } = waitOf(example, `${RESERVE_AFTER}s`);
    expect(wait).toBeGreaterThan(RESERVE_AFTER);
    expect(wait).toBeLessThan(RESERVE_AFTER + LONGEST_SMALL + REPORTS);
  });

  it("starts in bounded time on generated fleets, and no Job is given room that is not there", LIMIT, () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { wait, wrong } = waitOf(drawn, `${RESERVE_AFTER}s`);
        expect(wrong).toBe(0);
        // In its own queue those that came before it go first: a quarter of them still waits when it comes.
        const older = drawn.sameQueue ? BIG_AT / 4 + LONGEST_SMALL : 0;
        expect(wait ?? Number.POSITIVE_INFINITY).toBeLessThan(RESERVE_AFTER + LONGEST_SMALL + REPORTS + older);
      }),
      { numRuns: 20 },
    );
  });
});
