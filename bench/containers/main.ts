/**
 * Which savings of dispatch and of our Job controller hold with a kubelet: the same Jobs with real containers, and with pods that
 * end at once. `npm run bench:containers` takes about seven minutes and writes docs/bench/containers.md. It needs real nodes
 * (test/real-node).
 */
import { readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startHubWithLogs } from "@jobferry/test/e2e/pods/log-fleet.ts";
import { realNode } from "@jobferry/test/real-node/real-node.ts";
import { realNodesMissing } from "@jobferry/test/real-node/requirements.ts";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { localOf } from "../dispatch/counters.ts";
import { type Sizes, turn } from "./contenders.ts";
import { contenderNames, type Figures, type PodKind, type Turn } from "./figures.ts";
import { page } from "./page.ts";

const HELP = `npm run bench:containers -- [--quick] [--page FILE]

Measures Jobs with real containers and writes docs/bench/containers.md; about seven minutes on a quiet machine.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --page FILE  writes there instead`;

const full: Sizes = { rounds: 2, warmUp: 4, singles: 6, burst: 30 };
const quick: Sizes = { rounds: 1, warmUp: 1, singles: 1, burst: 3 };

const began = new Date();
const say = (line: string): void => console.error(`${((Date.now() - began.getTime()) / 1000).toFixed(0)} s: ${line}`);

async function turnsWith(pods: PodKind, sizes: Sizes): Promise<Pick<Figures, "turns" | "kubernetes">> {
  const agentFlags = ["--retention-seconds", "600", "--mirror-events", "warnings"]; // the defaults
  const log = await startHubWithLogs({
    ...{ withoutControllers: true, logLevel: "info", agentFlags, realNodes: pods === "containers" },
  });
  const { fleet } = log;
  try {
    if (pods === "containers") fleet.attach(await realNode(localOf(fleet.worker("east"))));
    await fleet.addNamespace("east", "default");
    const turns: Turn[] = [];
    for (let round = 0; round < sizes.rounds; round++)
      // Whoever comes later meets servers that the others have filled.
      for (const contender of round % 2 === 0 ? contenderNames : contenderNames.toReversed()) {
        turns.push(await turn({ fleet, pods }, round + 1, contender, sizes));
        say(`${pods}, round ${round + 1}: ${contender}: ${JSON.stringify(turns.at(-1))}`);
      }
    const { json } = await fleet.hub.request("/version");
    return { turns, kubernetes: (json as { gitVersion: string }).gitVersion };
  } finally {
    await log.stop();
  }
}

async function measureAll(sizes: Sizes): Promise<Figures> {
  const load = loadavg()[0] ?? 0;
  const instant = await turnsWith("instant", sizes);
  const { turns, kubernetes } = await turnsWith("containers", sizes);
  const tookSeconds = (Date.now() - began.getTime()) / 1000;
  return { began, tookSeconds, load, kubernetes, turns: [...instant.turns, ...turns] };
}

async function main(sizes: Sizes, file: string): Promise<void> {
  const missing = await realNodesMissing();
  if (missing !== undefined) throw new Error(missing);
  const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const text = wrapProse(page(await measureAll(sizes), findings));
  await writeFile(file, text);
  console.log(text);
}

const { values: flags } = parseArgs({
  options: { help: { type: "boolean" }, quick: { type: "boolean" }, page: { type: "string" } },
});
if (flags.help === true) console.log(HELP);
else
  await main(
    flags.quick === true ? quick : full,
    flags.page ?? join(import.meta.dirname, "../../docs/bench/containers.md"),
  );
