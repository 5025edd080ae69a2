/** What every program's command line has in common: flags from a schema, and one sentence for whatever goes wrong. */
import { Command, CommanderError } from "commander";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";

const BAD_USAGE = 2;

const kebab = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const quiet = (command: Command): Command =>
  command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(false);

export const program = (name: string, description: string, version: string): Command =>
  quiet(new Command(name).description(description).version(version));

/** Gives the command a flag per field of the schema, described as there; its arguments follow the flags. */
export function withFlags(
  command: Command,
  schema: z.ZodObject,
  run: (flags: Record<string, unknown>, ...args: string[]) => Promise<void>,
): Command {
  for (const [field, type] of Object.entries(schema.shape)) {
    const flag = isSwitch(type) ? `--${kebab(field)}` : `--${kebab(field)} <value>`;
    command.option(flag, (type as z.ZodType).description);
  }
  return quiet(command).action(() => run(command.opts(), ...command.args));
}

const isSwitch = (type: unknown): boolean => {
  const inner = type instanceof z.ZodDefault || type instanceof z.ZodOptional ? type.unwrap() : type;
  return inner instanceof z.ZodBoolean;
};

/** Parses the command line and runs; sets the exit code, never throws. */
export async function runProgram(command: Command): Promise<void> {
  try {
    await keptAlive(command.parseAsync());
  } catch (error) {
    const { code, message } = explain(error, command.name());
    if (message !== "") process.stderr.write(`${command.name()}: ${message}\n`);
    process.exitCode = code;
  }
}

/** Timers of ours do not keep a process alive: between two tries of a call it would end without a word. */
export async function keptAlive<T>(work: Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work;
  } finally {
    clearInterval(alive);
  }
}

function explain(error: unknown, name: string): { code: number; message: string } {
  if (error instanceof ConfigError) return { code: error.exitCode, message: error.message };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0, message: "" };
    if (error.code === "commander.help") return { code: BAD_USAGE, message: "" };
    const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
    return { code: BAD_USAGE, message: `${message}; ${name} --help lists what there is` };
  }
  return { code: 1, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
