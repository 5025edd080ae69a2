import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { program, runProgram, withFlags } from "./command.ts";
import { loadConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";

const directory = mkdtempSync(join(tmpdir(), "jobferry-command-"));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, "config.yaml");
writeFileSync(file, "logLevel: info\nworkers: 3\nhubs: [one, two]\n");

const schema = z.object({
  workers: z.int().default(2).describe("how many"),
  logLevel: z.enum(["info", "warn"]).default("warn").describe("least level logged"),
  hubs: z.array(z.string()).default([]).describe("which"),
  dryRun: z.boolean().default(false).describe("change nothing"),
  namespace: z.string().optional().describe("where"),
});

let said: { out: string; err: string };
beforeEach(() => {
  said = { out: "", err: "" };
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said.out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.err += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});

/** What the command `ferry load` was given, if it came to run. */
async function ferry(...args: string[]): Promise<unknown> {
  let config: unknown;
  const ferryProgram = program("ferry", "Carries things", "1.2.3");
  withFlags(ferryProgram.command("load").argument("[name]"), {
    schema,
    example: "ferry load --workers 5",
    async run(given, name) {
      if (name === "nothing") throw new ConfigError("there is nothing to load");
      config = loadConfig(schema, given);
    },
  });
  await runProgram(ferryProgram, args);
  return config;
}

describe("where an option comes from", () => {
  const fromFile = { workers: 3, logLevel: "info", hubs: ["one", "two"], dryRun: false };

  it("is the file of --config, or of JOBFERRY_CONFIG", async () => {
    expect(await ferry("load", "--config", file)).toEqual(fromFile);
    vi.stubEnv("JOBFERRY_CONFIG", file);
    expect(await ferry("load")).toEqual(fromFile);
  });

  it("is the environment before the file, and the command line before both", async () => {
    vi.stubEnv("JOBFERRY_WORKERS", "4");
    vi.stubEnv("JOBFERRY_HUBS", "three");
    expect(await ferry("load", "--config", file)).toEqual({ ...fromFile, workers: 4, hubs: ["three"] });
    expect(await ferry("load", "--config", file, "--workers", "5", "--hubs", "a", "--hubs", "b", "--dry-run")).toEqual({
      ...fromFile,
      workers: 5,
      hubs: ["a", "b"],
      dryRun: true,
    });
  });

  it("is nowhere but the command line when no file is named", async () => {
    expect(await ferry("load")).toEqual({ workers: 2, logLevel: "warn", hubs: [], dryRun: false });
  });
});

it("--help lists the options with their defaults, says where else they can be set, and ends with an example", async () => {
  await ferry("load", "--help");
  expect(said.err).toBe("");
  expect(said.out).toMatch(/--workers <n> +how many \(default 2\)/);
  expect(said.out).toMatch(/--log-level <info\|warn> +least level logged \(default warn\)/);
  expect(said.out).toMatch(/--dry-run +change nothing\n/);
  expect(said.out).toMatch(/--log-level there is JOBFERRY_LOG_LEVEL and logLevel\./);
  expect(said.out).toMatch(/Example:\n {2}ferry load --workers 5\n$/);
  expect(process.exitCode ?? 0).toBe(0);
});

it("takes the short flags of kubectl", async () => {
  expect(await ferry("load", "-n", "team-a")).toMatchObject({ namespace: "team-a" });
  await ferry("load", "--help");
  expect(said.out).toMatch(/-n, --namespace <value> +where\n/);
});

describe("bad usage is one sentence with exit code 2", () => {
  it.each<[string[], string]>([
    [[], "ferry: name a command: see ferry --help\n"],
    [["sink"], "ferry: unknown command 'sink': see ferry --help\n"],
    [["load", "--worker", "1"], "ferry: unknown option '--worker' (Did you mean --workers?): see ferry load --help\n"],
    [["load", "nothing"], "ferry: there is nothing to load\n"],
    [["load", "--workers", "many"], "ferry: --workers: Invalid input: expected number, received string (how many)\n"],
  ])("%j", async (args, sentence) => {
    expect(await ferry(...args)).toBeUndefined();
    expect(said).toEqual({ out: "", err: sentence });
    expect(process.exitCode).toBe(2);
  });
});
