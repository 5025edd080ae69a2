import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { flagOf, variableOf } from "./field-names.ts";
import { nearestName } from "./nearest-name.ts";

export { ConfigError } from "./config-error.ts";

export interface ConfigSources {
  /** From the command line, by field name; absent ones undefined. */
  flags?: Readonly<Record<string, unknown>>;
  /** `JOBFERRY_REDIS_URL` sets `redisUrl`. Names that are not a field are left alone: Kubernetes puts such into every pod. */
  env?: NodeJS.ProcessEnv;
  /** Path of a YAML file whose top-level keys are field names. */
  file?: string | undefined;
}

interface Found {
  value: unknown;
  from: string;
}

/**
 * One flat configuration from flags, environment and file, in this order of precedence, checked by `schema`. Text from flags
 * and environment becomes the field's number, boolean or comma-separated list.
 */
export function loadConfig<S extends z.ZodObject>(schema: S, sources: ConfigSources): z.output<S> {
  const found = new Map<string, Found>();
  for (const [field, value] of Object.entries(readFile(sources.file)))
    found.set(field, { value, from: `${field} in ${sources.file}` });
  for (const field of Object.keys(schema.shape)) {
    const name = variableOf(field);
    const text = sources.env?.[name];
    if (text !== undefined) found.set(field, { value: fromText(schema.shape[field], text), from: name });
  }
  for (const [field, value] of Object.entries(sources.flags ?? {})) {
    if (value === undefined) continue;
    // A list may be given by saying the flag again, too.
    const text = Array.isArray(value) ? value.join(",") : value;
    const parsed = typeof text === "string" ? fromText(schema.shape[field], text) : text;
    found.set(field, { value: parsed, from: flagOf(field) });
  }
  const values = Object.fromEntries(Array.from(found, ([field, { value }]) => [field, value]));
  const result = schema.strict().safeParse(values);
  if (result.success) return result.data as z.output<S>;
  // A key that is not known may be why another is missing.
  const isUnknown = ({ code }: z.core.$ZodIssue): boolean => code === "unrecognized_keys";
  const issues = result.error.issues.toSorted((one, other) => Number(isUnknown(other)) - Number(isUnknown(one)));
  throw new ConfigError(issues.map((issue) => explain(schema, issue, found)).join("; "));
}

/** All settings together take a twentieth of it; a YAML parser takes long for what somebody put there by mistake. */
const MAX_FILE_CHARS = 16_384;

function readFile(path: string | undefined): Record<string, unknown> {
  if (path === undefined) return {};
  let data: unknown;
  try {
    const text = readFileSync(path, "utf8");
    if (text.length > MAX_FILE_CHARS)
      throw new Error(
        `it has ${text.length} characters, and at most ${MAX_FILE_CHARS} are read: no such file needs more`,
      );
    data = parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new ConfigError(`configuration file ${path} cannot be read: ${why}`, { cause });
  }
  if (data === null || data === undefined) return {};
  if (typeof data !== "object" || Array.isArray(data))
    throw new ConfigError(`configuration file ${path} must hold fields, one "name: value" per line`);
  return data as Record<string, unknown>;
}

function explain(schema: z.ZodObject, issue: z.core.$ZodIssue, found: Map<string, Found>): string {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(schema.shape);
    const names = issue.keys.map((key) => `${found.get(key)?.from ?? key}: no such field${suggestion(key, known)}`);
    return `${names.join("; ")}; there are ${known.join(", ")}`;
  }
  const field = String(issue.path[0] ?? "");
  const help = fieldOf(schema, field)?.description;
  const source = found.get(field);
  const what = source === undefined ? `${flagOf(field)} is missing` : `${source.from}: ${issue.message}`;
  return help === undefined ? what : `${what} (${help})`;
}

function suggestion(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest === undefined ? "" : `, did you mean ${nearest}?`;
}

const fieldOf = (schema: z.ZodObject, field: string): z.ZodType | undefined =>
  schema.shape[field] as z.ZodType | undefined;

/** Text that does not fit stays text, for the schema to complain about. */
function fromText(type: z.core.$ZodType | undefined, text: string): unknown {
  switch (kindOf(type)) {
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
    case "boolean":
      return /^(true|1|yes)$/i.test(text) ? true : /^(false|0|no)$/i.test(text) ? false : text;
    case "array":
      return text.split(",").map((part) => part.trim());
    default:
      return text;
  }
}

/** The type below `.optional()`, `.default()` and the like. */
function kindOf(type: z.core.$ZodType | undefined): string | undefined {
  let inner: unknown = type;
  for (let depth = 0; depth < 10 && inner instanceof z.core.$ZodType; depth++) {
    const def: { type: string; innerType?: unknown; in?: unknown } = inner._zod.def;
    const next = def.innerType ?? def.in;
    if (next === undefined) return def.type;
    inner = next;
  }
  return undefined;
}
