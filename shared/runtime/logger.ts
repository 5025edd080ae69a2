import { type DestinationStream, type LevelWithSilent, pino } from "pino";

export type LogLevel = LevelWithSilent;

/** What our code logs through: constant messages, details as fields. A pino logger is one. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

const SECRET_FIELDS = [
  "token",
  "password",
  "secret",
  "authorization",
  "privateKey",
  "clientKeyData",
  '["client-key-data"]',
  '["proxy-authorization"]',
];

/** The field itself and the same name up to two objects deep; deeper things are not logged as objects. */
const redactedPaths = SECRET_FIELDS.flatMap((field) => {
  const below = field.startsWith("[") ? field : `.${field}`;
  return [field, `*${below}`, `*.*${below}`];
});

/** Three parts, of which two begin as JSON in base64 does. Split rather than matched: a line may be made to be slow to match. */
function holdsToken(word: string): boolean {
  if (!word.includes("eyJ")) return false;
  const parts = word.split(".");
  return parts.some((part, index) => {
    const [next, last] = [parts[index + 1], parts[index + 2]];
    return last !== undefined && next?.startsWith("eyJ") === true && /(?:^|-)eyJ/.test(part);
  });
}

const MAX_MESSAGE_CHARS = 500;
const MAX_STACK_LINES = 12;

/** What an API server says of a rejected object may hold the object, with the values of its variables: the start is enough. */
function errorFields(error: Error): object {
  const { type, message, stack, code, reason } = pino.stdSerializers.err(error) as ReturnType<
    typeof pino.stdSerializers.err
  > & { code?: unknown; reason?: unknown };
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return {
    ...{ type, message: message.slice(0, MAX_MESSAGE_CHARS), stack: lines.slice(0, MAX_STACK_LINES).join("\n") },
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Secrets that hide inside sentences: bearer tokens, service account tokens, passwords in URLs. */
export const scrub = (line: string): string =>
  line
    .replaceAll(/\bBearer [\w.~+/=-]+/gi, "Bearer [redacted]")
    .replaceAll(/[\w.-]+/g, (word) => (holdsToken(word) ? "[redacted]" : word))
    .replaceAll(/(\w:\/\/[^\s:@/"\\]*):[^\s@/"\\]+@/g, "$1:[redacted]@");

/** What was thrown is not always an error. */
const logged = (value: unknown): unknown => (value instanceof Error ? errorFields(value) : value);

export interface LoggerOptions {
  /** The program: `jobferry-agent`, `jobferry-manager`. */
  name: string;
  level?: LevelWithSilent;
  /** Standard error unless given: standard output belongs to the command's result. */
  destination?: DestinationStream;
}

/** JSON lines with ISO times; `logger.child({cluster: "c1"})` adds fields to every line below it. */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      name: options.name,
      level: options.level ?? "info",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: "[redacted]" },
      serializers: { error: logged, err: logged },
      hooks: { streamWrite: scrub },
    },
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  );
}
