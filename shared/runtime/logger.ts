import { type DestinationStream, type LevelWithSilent, pino } from "pino";

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

/** Secrets that hide inside sentences: bearer tokens, service account tokens, passwords in URLs. */
export const scrub = (line: string): string =>
  line
    .replaceAll(/\bBearer [\w.~+/=-]+/gi, "Bearer [redacted]")
    .replaceAll(/\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]*/g, "[redacted]")
    .replaceAll(/(\w:\/\/[^\s:@/"\\]*):[^\s@/"\\]+@/g, "$1:[redacted]@");

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
      serializers: { error: pino.stdSerializers.err, err: pino.stdSerializers.err },
      hooks: { streamWrite: scrub },
    },
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  );
}
