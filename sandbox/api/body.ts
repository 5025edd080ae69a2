/** From a request body to a draft: identity checks and decoding, the same for every write. */
import { DecodeError, decode } from "../schema/decode.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { badRequest } from "./errors.ts";
import type { Draft, ResourceType } from "./types.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface BodyOptions {
  readonly fieldValidation?: FieldValidation | undefined;
  readonly warn?: ((text: string) => void) | undefined;
}

export function readBody(type: ResourceType, body: unknown, options: BodyOptions = {}): Draft {
  if (!isRecord(body)) throw badRequest(`the object provided is unrecognized (must be of type ${type.kind})`);
  checkKind(type, body);
  const value = canonical(type, body, options);
  const metadata = isRecord(value.metadata) ? value.metadata : {};
  return {
    ...value,
    apiVersion: type.apiVersion,
    kind: type.kind,
    // A name that is missing is refused later, with the other violations.
    metadata: { ...metadata, name: metadata.name ?? "" } as Stored["metadata"],
  };
}

function canonical(type: ResourceType, body: Record<string, unknown>, options: BodyOptions): Record<string, unknown> {
  // In process nobody reads warnings: a type with its own decoder needs only that.
  if (type.strategy.decode === undefined || options.fieldValidation !== undefined) {
    const { value, unknown } = decodeAs(type, body);
    report(type, unknown, options);
    if (type.strategy.decode === undefined) return value;
  }
  const decoded = type.strategy.decode(body);
  if ("error" in decoded) throw badRequest(`${cannotHandle(type)}: ${decoded.error.message}`);
  return decoded.value as Record<string, unknown>;
}

function report(type: ResourceType, unknown: readonly string[], { fieldValidation, warn }: BodyOptions): void {
  if (unknown.length === 0 || fieldValidation === "Ignore") return;
  const complaints = unknown.map((field) => `unknown field "${field}"`);
  if (fieldValidation === "Strict")
    throw badRequest(`${cannotHandle(type)}: strict decoding error: ${complaints.join(", ")}`);
  for (const complaint of complaints) warn?.(complaint);
}

const cannotHandle = (type: ResourceType): string =>
  `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;

function checkKind(type: ResourceType, body: Record<string, unknown>): void {
  const kind = body.kind ?? type.kind;
  const apiVersion = body.apiVersion ?? type.apiVersion;
  if (kind === type.kind && apiVersion === type.apiVersion) return;
  if (type.schemaKind === undefined || apiVersion !== type.apiVersion)
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${type.apiVersion})`,
    );
  throw badRequest(
    `${String(kind)} in version "${type.version}" cannot be handled as a ${type.kind}: no kind "${String(kind)}" is registered for version "${type.apiVersion}"`,
  );
}

function decodeAs(type: ResourceType, body: Record<string, unknown>) {
  try {
    if (type.schemaKind !== undefined) return decode(type.schemaKind, body);
    const unknown: string[] = [];
    const value = type.strategy.prune?.(body, unknown) ?? body;
    const metadata = isRecord(body.metadata) ? decode("ObjectMeta", body.metadata) : { value: {}, unknown: [] };
    return {
      value: { ...value, metadata: metadata.value },
      unknown: [...metadata.unknown.map((field) => `metadata.${field}`), ...unknown],
    };
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${cannotHandle(type)}: ${error.message}`);
    throw error;
  }
}
