/** What every program's command line has in common: flags from a schema, and one sentence for whatever goes wrong. */
import { Command, CommanderError } from "commander";
import { z } from "zod";
import type { ConfigSources } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { flagOf, variableOf } from "./field-names.ts";

const BAD_USAGE = 2;

/** Says it of a field that shows how the three spellings differ. */
function sourcesOf(fields: readonly string[]): string {
  const field = fields.find((each) => /[A-Z]/.test(each)) ?? fields[0] ?? "";
  return `
An option can also be set in the environment or in the file of --config:
${flagOf(field)} there is ${variableOf(field)} and ${field}. What is given as an
option wins over the environment, and the environment over the file.`;
}

/** What goes wrong is thrown, and said in one place. */
const quiet = (command: Command): Command =>
  command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .allowExcessArguments(false);

export const program = (name: string, description: string, version: string): Command =>
  quiet(new Command(name).description(description).version(version));

export interface GivenConfig extends ConfigSources {
  readonly env: NodeJS.ProcessEnv;
}

export interface CommandOptions {
  /** Each field is a flag, described as there. */
  readonly schema: z.ZodObject;
  /** A command line that can be copied. */
  readonly example: string;
  /** `given` is for `loadConfig`; the arguments follow it. */
  run(given: GivenConfig, ...args: string[]): Promise<void>;
}

/** Gives the command its flags, and `--config`, which every program has. */
export function withFlags(command: Command, { schema, example, run }: CommandOptions): Command {
  for (const help of flagsOf(schema)) addFlag(command, help);
  command
    .option("--config <file>", "YAML file with the options that are not given otherwise; else JOBFERRY_CONFIG")
    .addHelpText("after", `${sourcesOf(Object.keys(schema.shape))}\n\nExample:\n  ${example}`);
  return quiet(command).action(() => {
    const { config, ...flags } = command.opts();
    const { env } = process;
    return run(
      { flags, env, file: (config as string | undefined) ?? (env.JOBFERRY_CONFIG || undefined) },
      ...command.args,
    );
  });
}

/** One field of a configuration as its reader sees it, in `--help` and in docs/reference. */
export interface FlagHelp {
  readonly field: string;
  readonly flag: string;
  readonly variable: string;
  /** What follows the flag; empty for one that is switched on by its name. */
  readonly placeholder: string;
  /** May be given more than once. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** As text; empty when there is none worth saying. */
  readonly fallback: string;
  readonly description: string;
}

export const flagsOf = (schema: z.ZodObject): FlagHelp[] =>
  Object.entries(schema.shape).map(([field, type]) => describeFlag(field, type as z.ZodType));

function describeFlag(field: string, type: z.ZodType): FlagHelp {
  const { inner, fallback } = unwrapped(type);
  const isWorthSaying = typeof fallback === "number" || (typeof fallback === "string" && fallback !== "");
  return {
    field,
    flag: flagOf(field),
    variable: variableOf(field),
    placeholder: inner instanceof z.ZodBoolean ? "" : placeholderOf(inner),
    isList: inner instanceof z.ZodArray,
    isRequired: inner === type,
    fallback: isWorthSaying ? String(fallback) : "",
    description: type.description ?? "",
  };
}

/** What kubectl's users type. */
const SHORT: Readonly<Record<string, string>> = { follow: "-f", namespace: "-n", output: "-o" };

/** Defaults are only described: commander's own would hide what the environment and the file say. */
function addFlag(command: Command, { field, flag, placeholder, isList, fallback, description }: FlagHelp): void {
  const described = [description, ...(fallback === "" ? [] : [`(default ${fallback})`])].join(" ");
  const names = [SHORT[field] ?? [], flag].flat().join(", ");
  const withValue = [names, ...(placeholder === "" ? [] : [placeholder])].join(" ");
  if (isList) command.option(withValue, described, (value: string, others: string[] = []) => [...others, value]);
  else command.option(withValue, described);
}

function placeholderOf(type: z.ZodType): string {
  if (type instanceof z.ZodEnum) return `<${type.options.join("|")}>`;
  return type instanceof z.ZodNumber ? "<n>" : "<value>";
}

function unwrapped(type: z.ZodType): { inner: z.ZodType; fallback?: unknown } {
  if (type instanceof z.ZodDefault) return { inner: type.unwrap() as z.ZodType, fallback: type.def.defaultValue };
  return { inner: type instanceof z.ZodOptional ? (type.unwrap() as z.ZodType) : type };
}

/** Parses the command line and runs; sets the exit code, never throws. */
export async function runProgram(command: Command, args: readonly string[] = process.argv.slice(2)): Promise<void> {
  try {
    await keptAlive(command.parseAsync(args, { from: "user" }));
  } catch (error) {
    const { code, message } = explain(error, calledName(command, args));
    if (message !== "") process.stderr.write(`${command.name()}: ${message}\n`);
    process.exitCode = code;
  }
}

/** Timers of ours do not keep a process alive: between two tries of a call it would end without a word. */
async function keptAlive<T>(work: Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work;
  } finally {
    clearInterval(alive);
  }
}

/** Such as `jobferry cluster add`: the command whose help is of use. */
function calledName(command: Command, [word, ...rest]: readonly string[]): string {
  const called = command.commands.find((each) => each.name() === word);
  return called === undefined ? command.name() : `${command.name()} ${calledName(called, rest)}`;
}

/** What went wrong, as one sentence with the fix where the user can fix it. */
function explain(error: unknown, name: string): { code: number; message: string } {
  if (error instanceof ConfigError) return { code: error.exitCode, message: error.message };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0, message: "" };
    // Without a command commander shows its help and calls that an error.
    const what = error.code === "commander.help" ? "name a command" : sentenceOf(error.message);
    return { code: BAD_USAGE, message: `${what}: see ${name} --help` };
  }
  return { code: 1, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

const sentenceOf = (message: string): string =>
  message
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "");
