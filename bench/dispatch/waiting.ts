/**
 * What one placement costs while many Jobs wait. One cluster takes one Job at a time and answers at once, so that Jobs are
 * placed one by one: the end of one is what lets the next one go.
 */
import { setTimeout as delay } from "node:timers/promises";
import { AnsweringAgent } from "./answering-agent.ts";
import { enrol } from "./enrol.ts";
import type { Waiting } from "./figures.ts";
import type { BenchFleet } from "./fleet.ts";
import type { Sizes } from "./sizes.ts";
import { Submitter } from "./work.ts";

const LOOK_MS = 500;
const MOST_LOOKS = 600;
/** Placements before the first measure, so that it does not run on code that is not compiled yet. */
const WARM_UP = 50;

export async function placementsAmongWaiting(fleet: BenchFleet, sizes: Sizes): Promise<Waiting[]> {
  const { levels, placements } = sizes.waiting;
  const agent = new AnsweringAgent(await enrol(fleet.real, "solo", { maxJobs: 1 }));
  const submitter = new Submitter(fleet.real.hub.api, "dispatched");
  const figures: Waiting[] = [];
  let waiting = -1; // The first Job goes to the cluster and is held there.
  const fillTo = async (count: number): Promise<void> => {
    await submitter.createMany(count - waiting, sizes.creators);
    waiting = count;
    await untilWaiting(fleet, count);
  };
  try {
    await agent.start();
    await fillTo(WARM_UP + 1);
    await agent.answer(WARM_UP);
    waiting -= WARM_UP;
    for (const level of levels) {
      await fillTo(level + placements);
      const cost = await fleet.measure(placements, async () => {
        const began = performance.now();
        await agent.answer(placements);
        return (performance.now() - began) / 1000;
      });
      waiting -= placements;
      const { manager } = cost.uses;
      figures.push({
        ...{ waiting: level, placements, seconds: cost.seconds, hubWrites: cost.hubWrites },
        ...{ managerCpuSeconds: manager?.cpuSeconds ?? Number.NaN, managerMiB: manager?.residentMiB ?? Number.NaN },
      });
    }
    return figures;
  } finally {
    await Promise.all([agent.stop(), submitter.close()]);
  }
}

async function untilWaiting(fleet: BenchFleet, count: number): Promise<void> {
  let seen = Number.NaN;
  for (let look = 0; look < MOST_LOOKS; look++) {
    seen = await fleet.jobsWaiting();
    if (seen === count) return;
    await delay(LOOK_MS);
  }
  throw new Error(`${count} Jobs should wait for a cluster, the manager counts ${seen}`);
}
