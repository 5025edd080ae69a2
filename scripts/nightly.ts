/**
 * `npm run test:nightly`: the volume that `npm test` leaves out, one part after the other. The last line is their sum; a part that fails
 * does not keep the others from running. `npm run test:nightly -- WORD` runs the parts whose name has that word.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, seconds } from "./run.ts";
import { closingLines, type Tally } from "./tally.ts";

interface Part {
  readonly name: string;
  /** Arguments of vitest. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const parts: readonly Part[] = [
  {
    name: "quick tests, with other properties than every day",
    args: ["--project", "quick"],
    env: { JOBFERRY_PROPERTY_SEED: "random" },
  },
  {
    name: "validation, with other Jobs than every day",
    args: ["--project", "full", "test/contract/validation"],
    env: { JOBFERRY_VALIDATION_SEED: "random" },
  },
  {
    name: "differential, 500 generated cases",
    args: ["--project", "full", "test/differential"],
    env: { JOBFERRY_DIFFERENTIAL_CASES: "500" },
  },
  {
    name: "placement against kube-scheduler, 500 generated cases",
    args: ["--project", "full", "test/placement"],
    env: { JOBFERRY_PLACEMENT_CASES: "500" },
  },
  {
    name: "logs, 10,000 requests of one client",
    args: ["--project", "full", "test/e2e/pods/streams"],
    env: { JOBFERRY_LOG_REQUESTS: "10000" },
  },
  {
    name: "deployed on real nodes, 200 Jobs during each fault",
    args: ["--project", "nightly", "test/e2e/deployed"],
    env: {},
  },
  {
    name: "soak and chaos on a real fleet; the benchmark program",
    args: ["--project", "nightly", "--exclude", "test/e2e/deployed/**"],
    env: { JOBFERRY_AWAY_MINUTES: "10" },
  },
];

async function play({ name, args, env }: Part, folder: string): Promise<Tally> {
  const started = performance.now();
  console.log(`\n== ${name}`);
  const file = join(folder, `${parts.findIndex((part) => part.name === name)}.json`);
  const all = ["run", "--reporter=default", "--reporter=./scripts/tally-reporter.ts", ...args];
  const code = await run("vitest", all, (line) => console.log(line), { ...process.env, ...env, JOBFERRY_TALLY: file });
  const tally = await readFile(file, "utf8").then(
    (text) => JSON.parse(text) as Tally,
    () => ({ passed: 0, failed: 1, skipped: [] }),
  );
  console.log(`== ${name}: ${code === 0 ? "passed" : "FAILED"} after ${seconds(started)}`);
  return { ...tally, failed: code === 0 ? tally.failed : Math.max(tally.failed, 1) };
}

const wanted = process.argv[2] ?? "";
const folder = await mkdtemp(join(tmpdir(), "jobferry-nightly-"));
const started = performance.now();
const tallies: Tally[] = [];
try {
  for (const part of parts.filter(({ name }) => name.includes(wanted))) tallies.push(await play(part, folder));
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`\nnightly took ${seconds(started)}`);
const { lines, failed } = closingLines(tallies);
for (const line of lines) console.log(line);
process.exitCode = failed === 0 && tallies.length > 0 ? 0 : 1;
