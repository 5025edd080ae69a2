/** What it costs to show pods on the hub, and how fast logs are. `npm run bench:pods` writes docs/bench/pods.md. */
import { readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { FleetNamespace } from "@jobferry/test/e2e/dispatch/fleet-namespace.ts";
import type { RealFleet } from "@jobferry/test/e2e/dispatch/real-fleet.ts";
import { startLogFleet } from "@jobferry/test/e2e/pods/log-fleet.ts";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { type Burst, type Figures, PARTS, type Part } from "./figures.ts";
import { burst, largeJob, singles } from "./jobs.ts";
import { page } from "./page.ts";
import { streams } from "./streams.ts";

const HELP = `npm run bench:pods -- [--quick | --half] [--part PART]... [--figures FILE] [--page FILE]

Measures shadow pods and logs on real control planes and writes docs/bench/pods.md; about six minutes on a quiet machine.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --half       fewer Jobs and pods, for a machine that has much else to do
  --part PART  measures singles, streams, bursts or large alone; all of them unless given
  --figures FILE  keeps the figures there, and adds to what is there: for parts that are measured one by one
  --page FILE  writes there instead`;

const full = {
  singles: 60,
  burst: 1_000,
  rounds: 2,
  large: 5_000,
  streams: { oneMB: 100, readers: 200, eachMB: 2, jobs: 40, lines: 100 },
};
const half: typeof full = {
  singles: 40,
  burst: 300,
  rounds: 1,
  large: 1_000,
  streams: { oneMB: 50, readers: 200, eachMB: 1, jobs: 25, lines: 100 },
};
const quick: typeof full = {
  singles: 5,
  burst: 30,
  rounds: 1,
  large: 150,
  streams: { oneMB: 10, readers: 10, eachMB: 1, jobs: 5, lines: 10 },
};

const began = new Date();
const say = (line: string): void => console.error(`${((Date.now() - began.getTime()) / 1000).toFixed(0)} s: ${line}`);

const QUIET = { withoutControllers: true, logLevel: "info", agentFlags: ["--retention-seconds", "600"] } as const;

async function measure(sizes: typeof full, parts: readonly Part[], known: Partial<Figures>): Promise<Figures> {
  const before = loadavg()[0] ?? 0;
  const log = await startLogFleet(QUIET);
  const { fleet } = log;
  const wants = (part: Part): boolean => parts.includes(part);
  try {
    const at = await fleet.namespace("bench");
    await singles(fleet, at, Math.ceil(sizes.singles / 4), true);
    say("the fleet runs");
    const { json } = await fleet.hub.request("/version");
    const measured = {
      kubernetes: (json as { gitVersion: string }).gitVersion,
      redis: /^redis_version:(\S+)/m.exec(await fleet.redis.info("server"))?.[1] ?? "unknown",
      ...(wants("singles") && { singles: await oneByOne(fleet, at, sizes.singles) }),
      ...(wants("streams") && { streams: await streams(log, at, sizes.streams) }),
      ...(wants("bursts") && { bursts: await turns(fleet, sizes) }),
      ...(wants("large") && { large: await largeJob(fleet, await fleet.namespace("large"), sizes.large) }),
    };
    say(JSON.stringify(measured));
    const load = [before, loadavg()[0] ?? 0] as const;
    const sitting = { parts, began: began.toISOString(), tookSeconds: (Date.now() - began.getTime()) / 1000, load };
    return { ...known, ...measured, sittings: [...(known.sittings ?? []), sitting] };
  } finally {
    await log.stop();
  }
}

async function oneByOne(fleet: RealFleet, at: FleetNamespace, jobs: number): Promise<Figures["singles"]> {
  const withShadows = await singles(fleet, at, jobs, true);
  return { withShadows, without: await singles(fleet, at, jobs, false) };
}

async function turns(fleet: RealFleet, sizes: typeof full): Promise<Burst[]> {
  const bursts: Burst[] = [];
  for (let round = 0; round < 2 * sizes.rounds; round++) {
    // Whoever goes second meets servers that the first has filled.
    const shadows = (round % 2 === 0) === round % 4 < 2;
    bursts.push(await burst(fleet, await fleet.namespace(`burst-${round}`), sizes.burst, shadows));
    say(`burst: ${JSON.stringify(bursts.at(-1))}`);
  }
  return bursts;
}

const { values: flags } = parseArgs({
  options: {
    help: { type: "boolean" },
    quick: { type: "boolean" },
    half: { type: "boolean" },
    part: { type: "string", multiple: true },
    figures: { type: "string" },
    page: { type: "string" },
  },
});
const sizes = flags.quick === true ? quick : flags.half === true ? half : full;
const wanted = PARTS.filter((part) => flags.part === undefined || flags.part.includes(part));
if (flags.help === true) {
  console.log(HELP);
} else {
  const kept = flags.figures === undefined ? "" : await readFile(flags.figures, "utf8").catch(() => "");
  const known = kept === "" ? {} : (JSON.parse(kept) as Partial<Figures>);
  const figures = await measure(sizes, wanted, known);
  if (flags.figures !== undefined) await writeFile(flags.figures, JSON.stringify(figures));
  const runs = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const text = wrapProse(page(figures, runs));
  await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/pods.md"), text);
  console.log(text);
}
