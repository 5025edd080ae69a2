/**
 * What dispatch costs and how fast it is. `npm run bench:dispatch` takes about ten minutes on a quiet machine and writes
 * docs/bench/dispatch.md.
 */
import { readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import type { Figures, Turn } from "./figures.ts";
import { BenchFleet } from "./fleet.ts";
import { manyWorkers } from "./many-workers.ts";
import { page } from "./page.ts";
import { fullSizes, quickSizes, type Sizes } from "./sizes.ts";
import { timeline } from "./timeline.ts";
import { turn } from "./turns.ts";
import { placementsAmongWaiting } from "./waiting.ts";
import { Submitter } from "./work.ts";

const HELP = `npm run bench:dispatch -- [--quick] [--rounds N] [--page FILE]

Measures dispatch on real control planes and writes docs/bench/dispatch.md; about ten minutes on a quiet machine.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --rounds N   turns of dispatch and of the built-in controller, alternating
  --page FILE  writes there instead`;

const began = new Date();
const say = (line: string): void => console.error(`${((Date.now() - began.getTime()) / 1000).toFixed(0)} s: ${line}`);

async function withFleet<T>(workers: readonly string[], use: (fleet: BenchFleet) => Promise<T>): Promise<T> {
  const fleet = new BenchFleet(workers);
  try {
    await fleet.start();
    return await use(fleet);
  } catch (error) {
    const log = await fleet.real.log("manager").catch(() => "");
    throw new Error(`measuring failed; the manager's last words:\n${log.slice(-3_000)}`, { cause: error });
  } finally {
    await fleet.stop();
  }
}

type OnRealWorkers = Pick<Figures, "turns" | "timeline" | "profiles" | "kubernetes" | "redis">;

function onRealWorkers(sizes: Sizes): Promise<OnRealWorkers> {
  return withFleet(["east", "west"], async (fleet) => {
    say("the fleet with two real workers runs");
    await burst(fleet, sizes.warmUp, sizes);
    const turns: Turn[] = [];
    for (let number = 1; number <= sizes.rounds; number++) {
      turns.push(await turn(fleet, sizes, number % 2 === 1 ? "dispatched" : "built-in", say));
      say(`turn ${number} of ${sizes.rounds} done`);
    }
    const steps = await timeline(fleet, sizes.timeline);
    say("timeline done");
    const profiles = await fleet.profile(() => burst(fleet, sizes.profiled, sizes));
    say("profiles done");
    return { turns, timeline: steps, profiles, ...(await fleet.versions()) };
  });
}

async function burst(fleet: BenchFleet, jobs: number, { creators }: Sizes): Promise<void> {
  const hub = new Submitter(fleet.real.hub.api, "dispatched");
  try {
    await hub.burst(jobs, creators);
  } finally {
    await hub.close();
  }
}

async function measureAll(sizes: Sizes): Promise<Figures> {
  const load = loadavg()[0] ?? 0;
  const real = await onRealWorkers(sizes);
  const waiting = await withFleet([], (fleet) => placementsAmongWaiting(fleet, sizes));
  say("waiting Jobs done");
  const many = await withFleet([], (fleet) => manyWorkers(fleet, sizes));
  say("many workers done");
  const tookSeconds = (Date.now() - began.getTime()) / 1000;
  return { sizes, began, load, tookSeconds, ...real, waiting, manyWorkers: many };
}

const { values: flags } = parseArgs({
  options: {
    help: { type: "boolean" },
    quick: { type: "boolean" },
    rounds: { type: "string" },
    page: { type: "string" },
  },
});
if (flags.help === true) {
  console.log(HELP);
} else {
  const chosen = flags.quick === true ? quickSizes : fullSizes;
  const sizes = flags.rounds === undefined ? chosen : { ...chosen, rounds: Number(flags.rounds) };
  const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const text = wrapProse(page(await measureAll(sizes), findings));
  await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/dispatch.md"), text);
  console.log(text);
}
