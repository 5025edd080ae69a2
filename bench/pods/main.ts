/** What it costs to show pods on the hub, and how fast logs are. `npm run bench:pods` writes docs/bench/pods.md. */
import { readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startLogFleet } from "@jobferry/test/e2e/pods/log-fleet.ts";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import type { Burst, Figures } from "./figures.ts";
import { burst, largeJob, singles } from "./jobs.ts";
import { page } from "./page.ts";
import { streams } from "./streams.ts";

const HELP = `npm run bench:pods -- [--quick | --half] [--page FILE]

Measures shadow pods and logs on real control planes and writes docs/bench/pods.md; about six minutes on a quiet machine.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --half       fewer Jobs and pods, for a machine that has much else to do
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

async function measure(sizes: typeof full): Promise<Figures> {
  const before = loadavg()[0] ?? 0;
  const log = await startLogFleet({
    ...{ withoutControllers: true, logLevel: "info", agentFlags: ["--retention-seconds", "600"] },
  });
  const { fleet } = log;
  try {
    const at = await fleet.namespace("bench");
    await singles(fleet, at, Math.ceil(sizes.singles / 4), true);
    say("the fleet runs");
    const withShadows = await singles(fleet, at, sizes.singles, true);
    const without = await singles(fleet, at, sizes.singles, false);
    say("one at a time done");
    const logs = await streams(log, at, sizes.streams);
    say(`logs: ${JSON.stringify({ ...logs, latencyMs: undefined })}`);
    const bursts: Burst[] = [];
    for (let round = 0; round < 2 * sizes.rounds; round++) {
      // Whoever goes second meets servers that the first has filled.
      const shadows = (round % 2 === 0) === round % 4 < 2;
      bursts.push(await burst(fleet, await fleet.namespace(`burst-${round}`), sizes.burst, shadows));
      say(`burst: ${JSON.stringify(bursts.at(-1))}`);
    }
    const large = await largeJob(fleet, await fleet.namespace("large"), sizes.large);
    say(`large Job: ${JSON.stringify(large)}`);
    const { json } = await fleet.hub.request("/version");
    const redis = /^redis_version:(\S+)/m.exec(await fleet.redis.info("server"))?.[1] ?? "unknown";
    return {
      ...{ began, tookSeconds: (Date.now() - began.getTime()) / 1000, load: [before, loadavg()[0] ?? 0] },
      ...{ kubernetes: (json as { gitVersion: string }).gitVersion, redis },
      ...{ withShadows, without, bursts, large, streams: logs },
    };
  } finally {
    await log.stop();
  }
}

const { values: flags } = parseArgs({
  options: {
    help: { type: "boolean" },
    quick: { type: "boolean" },
    half: { type: "boolean" },
    page: { type: "string" },
  },
});
const sizes = flags.quick === true ? quick : flags.half === true ? half : full;
if (flags.help === true) {
  console.log(HELP);
} else {
  const runs = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const text = wrapProse(page(await measure(sizes), runs));
  await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/pods.md"), text);
  console.log(text);
}
