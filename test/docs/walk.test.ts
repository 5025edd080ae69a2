/** docs/architecture.md says which files one Job passes; this asks the engine which functions ran. */
import { readFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { Fleet } from "../dispatch/fleet.ts";

const root = new URL("../../", import.meta.url);
const LIMITS = { manager: 12, "worker-agent": 7 } as const;

it.each(Object.entries(LIMITS))(
  "one Job passes the files of %s that the page names, at most %i",
  async (part, limit) => {
    const { steps, asked } = await walkOnThePage(part);
    const ran = (await filesOfOneJob()).filter((path) => path.startsWith(`${part}/`) && !/job-controller\//.test(path));
    expect(steps.length).toBeLessThanOrEqual(limit);
    expect(
      steps.filter((path) => !ran.includes(path)),
      "steps that did not run",
    ).toEqual([]);
    const isNamed = (path: string): boolean =>
      [...steps, ...asked].some((name) => path === name || path.startsWith(name));
    expect(
      ran.filter((path) => !isNamed(path)),
      "files that ran and are not on the page",
    ).toEqual([]);
  },
);

/** Steps, and what they ask: the files and folders in the two columns of the table below the part's heading. */
async function walkOnThePage(part: string): Promise<{ steps: string[]; asked: string[] }> {
  const page = await readFile(new URL("docs/architecture.md", root), "utf8");
  const section = page.split(`### In the ${part === "manager" ? "manager" : "agent"}\n`)[1]?.split(/^#/m)[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  const namesIn = (column: number): string[] =>
    rows.flatMap((row) => [...(row.split(" | ")[column] ?? "").matchAll(/`([\w./-]+)`/g)].map(([, name = ""]) => name));
  return { steps: namesIn(1), asked: namesIn(2) };
}

let files: Promise<string[]> | undefined;

function filesOfOneJob(): Promise<string[]> {
  files ??= runOneJob();
  return files;
}

async function runOneJob(): Promise<string[]> {
  const fleet = await new Fleet({ workers: ["east"] }).start();
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await fleet.submit("hello");
    await fleet.untilFinished("hello");
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const here = fileURLToPath(root);
    return result
      .filter(({ functions }) => functions.some((each) => each.functionName !== "" && hasRun(each.ranges)))
      .map(({ url }) => (url.startsWith("file:") ? fileURLToPath(url) : url))
      .filter((path) => path.startsWith(here))
      .map((path) => path.slice(here.length));
  } finally {
    session.disconnect();
    await fleet.stop();
  }
}

const hasRun = ([first]: { count: number }[]): boolean => (first?.count ?? 0) > 0;
