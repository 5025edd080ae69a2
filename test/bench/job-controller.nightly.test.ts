import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../harness/run-command.ts";

const bench = join(import.meta.dirname, "../../bench/job-controller/main.ts");
const LIMIT_MS = 300_000;

it("measures the Job controller against the built-in one and writes the page", { timeout: LIMIT_MS }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "jobferry-bench-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "page.md");
  const { code, stderr } = await runCommand(process.execPath, [bench, "--quick", "--page", file], {
    timeoutMs: LIMIT_MS - 10_000,
  });
  expect(code, stderr).toBe(0);
  const page = await readFile(file, "utf8");
  for (const work of ["one Indexed Job of 60 pods", "15 Jobs of one pod", "300 indexes in the sandbox"])
    expect(page).toContain(work);
  expect(page).not.toContain("| - |");
  // We create each pod once and take its finalizer once. (The built-in controller now and then takes one twice.)
  expect(page).toMatch(/^\| one Job of 60 pods, per pod \| pods create \| [\d.]+ \| 1\.0000 \|$/m);
  expect(page).toMatch(/^\| one Job of 60 pods, per pod \| pods patch \| [\d.]+ \| 1\.0000 \|$/m);
});
