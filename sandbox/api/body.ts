/** From a request body to a draft: identity checks and decoding, the same for every write. */
import { DecodeError, decode } from "../schema/decode.ts";
import { hasKind } from "../schema/schema.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { badRequest, invalid } from "./errors.ts";
import type { Draft, ResourceType } from "./types.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface BodyOptions {
  readonly fieldValidation?: FieldValidation | undefined;
  readonly warn?: ((text: string) => void) | undefined;
  /** Fields that the body had twice. */
  readonly repeated?: readonly string[] | undefined;
  /** The body came out of a patch: what is wrong with it is the patch. */
  readonly patched?: boolean | undefined;
  /** The stored object: a spec and metadata taken over from it as they are need no decoding. */
  readonly stored?: Stored | undefined;
}

export function readBody(type: ResourceType, body: unknown, options: BodyOptions = {}): Draft {
  if (!isRecord(body)) throw badRequest(`the object provided is unrecognized (must be of type ${type.kind})`);
  // In process the resource says it all; over HTTP a custom resource must name its kind.
  if (type.schemaKind === undefined && options.fieldValidation !== undefined && options.patched !== true)
    checkNamesKind(type, body);
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
  try {
    const { stored } = options;
    const keeps = (part: "spec" | "metadata"): boolean =>
      type.schemaKind !== undefined && stored?.[part] !== undefined && body[part] === stored[part];
    const [keepsSpec, keepsMetadata] = [keeps("spec"), keeps("metadata")];
    const { value, unknown } = decodeAs(type, {
      ...body,
      ...(keepsSpec ? { spec: {} } : {}),
      ...(keepsMetadata ? { metadata: { name: stored?.metadata.name } } : {}),
    });
    report(type, unknown, options);
    return {
      ...value,
      ...(keepsMetadata ? { metadata: stored?.metadata } : {}),
      ...(keepsSpec ? { spec: stored?.spec } : {}),
    };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (options.patched !== true) throw badRequest(`${cannotHandle(type)}: ${error.message}`);
    throw badPatch(body, error.message);
  }
}

function badPatch(body: Record<string, unknown>, detail: string): Error {
  const fault = { field: "patch", kind: "Invalid", badValue: JSON.stringify(body), detail } as const;
  return invalid({ group: "", kind: "" }, "", [fault]);
}

function report(type: ResourceType, unknown: readonly string[], options: BodyOptions): void {
  const { fieldValidation, warn, repeated = [] } = options;
  const complaints = [
    ...repeated.map((field) => `duplicate field "${field}"`),
    ...unknown.map((field) => `unknown field "${field}"`),
  ];
  if (complaints.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict")
    throw badRequest(`${cannotHandle(type)}: strict decoding error: ${complaints.join(", ")}`);
  for (const complaint of complaints) warn?.(complaint);
}

const cannotHandle = (type: ResourceType): string =>
  `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;

/** Where Go keeps the internal types of a group. */
const INTERNAL_PACKAGES: Record<string, string> = {
  "": "core",
  "coordination.k8s.io": "coordination",
  "apiextensions.k8s.io": "apiextensions",
};

function checkKind(type: ResourceType, body: Record<string, unknown>): void {
  const kind = String(body.kind ?? type.kind);
  const apiVersion = String(body.apiVersion ?? type.apiVersion);
  if (kind === type.kind && apiVersion === type.apiVersion) return;
  if (type.schemaKind === undefined) throw wrongCustomKind(type, body, kind, apiVersion);
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const known = apiVersion === type.apiVersion && hasKind(kind);
  const detail = known
    ? `converting (${version}.${kind}) to (${INTERNAL_PACKAGES[type.group] ?? type.group}.${type.kind}): unknown conversion`
    : `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${type.kind}: ${detail}`);
}

function checkNamesKind(type: ResourceType, body: Record<string, unknown>): void {
  const missing = body.kind === undefined ? "Kind" : body.apiVersion === undefined ? "apiVersion" : undefined;
  if (missing === undefined) return;
  const text = JSON.stringify(body);
  throw badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): Object '${missing}' is missing in '${text}' (${text})`,
  );
}

function wrongCustomKind(type: ResourceType, body: Record<string, unknown>, kind: string, apiVersion: string): Error {
  if (apiVersion !== type.apiVersion)
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${type.apiVersion})`,
    );
  const name = isRecord(body.metadata) ? String(body.metadata.name ?? "") : "";
  const fault = { field: "kind", kind: "Invalid", badValue: kind, detail: `must be ${type.kind}` } as const;
  return invalid({ group: type.group, kind }, name, [fault]);
}

function decodeAs(type: ResourceType, body: Record<string, unknown>) {
  if (type.schemaKind !== undefined) return decode(type.schemaKind, body);
  const unknown: string[] = [];
  const value = type.strategy.prune?.(body, unknown) ?? body;
  const metadata = isRecord(body.metadata) ? decode("ObjectMeta", body.metadata) : { value: {}, unknown: [] };
  return {
    value: { ...value, metadata: metadata.value },
    unknown: [...metadata.unknown.map((field) => `metadata.${field}`), ...unknown],
  };
}
