import type { IncomingMessage } from "node:http";
import { parse as parseYaml } from "yaml";
import type { FieldValidation } from "../api/body.ts";
import { badRequest, failure, invalid } from "../api/errors.ts";
import { decodeProtobuf, ProtobufError } from "../schema/protobuf.ts";
import { isRecord } from "../store/frozen.ts";
import { GoSyntaxError, goComplaint, scanJson } from "./go-json.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const BODY_LIMIT = 3 * 1024 * 1024;
const UNKNOWN_FORMAT =
  "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";

export async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT)
      throw failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${BODY_LIMIT}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const mediaType = (request: IncomingMessage): string =>
  (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";

/** The body of a create or replace; `kind` is what an unreadable body should have been. */
export function parseObject(body: Buffer, type: string, kind: string): ParsedBody {
  if (type === PROTOBUF) return { value: parseProtobuf(body), repeated: [] };
  const text = body.toString("utf8");
  if (type === "application/yaml") return { value: objectOrFail(readYaml(text), body, kind), repeated: [] };
  if (type !== "application/json") throw failure(415, "UnsupportedMediaType", UNKNOWN_FORMAT);
  try {
    const repeated = scanJson(text);
    return { value: objectOrFail(JSON.parse(text), body, kind), repeated };
  } catch (error) {
    if (!(error instanceof GoSyntaxError)) throw error;
    throw unrecognized(kind, `json parse error: ${error.message}`, body);
  }
}

export interface ParsedBody {
  readonly value: Record<string, unknown>;
  /** Paths of keys that occur twice. */
  readonly repeated: readonly string[];
}

function parseProtobuf(body: Buffer): Record<string, unknown> {
  try {
    return dropEmpty(decodeProtobuf(body));
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(error.message);
    throw error;
  }
}

/** Protobuf writes fields that are not set as zero, where JSON leaves them out. */
function dropEmpty(object: Record<string, unknown>): Record<string, unknown> {
  const isSet = (value: unknown): boolean => value !== "" && value !== 0 && value !== false;
  const kept = (fields: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => isSet(value)));
  return { ...kept(object), ...(isRecord(object.metadata) ? { metadata: kept(object.metadata) } : {}) };
}

function objectOrFail(value: unknown, body: Buffer, kind: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  if (value === null) return {};
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const target = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  throw unrecognized(kind, `json parse error: json: cannot unmarshal ${found} into Go value of type ${target}`, body);
}

function unrecognized(kind: string, detail: string, body: Buffer): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${detail} (${excerpt(body)})`,
  );
}

/** Text that looks like JSON is quoted, anything else is shown in hexadecimal digits. */
function excerpt(body: Buffer): string {
  if (body.length === 0) return "<empty>";
  return body[0] === 0x7b ? body.toString("utf8").slice(0, 1024) : body.toString("hex").slice(0, 1024);
}

export function readYaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    throw badRequest(`error parsing YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export type Query = URLSearchParams;

export function flag(query: Query, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== "false" && value !== "0";
}

export function integer(query: Query, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}

export const text = (query: Query, name: string): string | undefined => query.get(name) ?? undefined;

const unsupported = (kind: string, field: string, badValue: unknown, values: string[]): Error =>
  invalid({ group: "meta.k8s.io", kind }, "", [
    {
      field,
      kind: "NotSupported",
      badValue,
      detail: `supported values: ${values.map((value) => `"${value}"`).join(", ")}`,
    },
  ]);

export function dryRunOf(values: readonly string[], kind: string): boolean {
  if (values.length === 0) return false;
  if (values.some((value) => value !== "All")) throw unsupported(kind, "dryRun", values, ["All"]);
  return true;
}

export function fieldValidationOf(query: Query, kind: string): FieldValidation {
  const value = query.get("fieldValidation") ?? "";
  if (value === "" || value === "Warn") return "Warn";
  if (value === "Ignore" || value === "Strict") return value;
  throw unsupported(kind, "fieldValidation", value, ["", "Ignore", "Strict", "Warn"]);
}

export interface DeleteRequest {
  propagationPolicy?: "Orphan" | "Background" | "Foreground";
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun: boolean;
}

const POLICIES = ["Foreground", "Background", "Orphan"] as const;

/** Options of a DELETE come in its body or, when there is none, in the query. */
export function readDeleteOptions(bytes: Buffer, type: string, query: Query): DeleteRequest {
  const body = bytes.length === 0 ? {} : parseDeleteBody(bytes, type);
  checkOrphaning(body, query);
  const policy = body.propagationPolicy ?? text(query, "propagationPolicy") ?? orphaning(body, query);
  if (policy !== undefined && !POLICIES.includes(policy as (typeof POLICIES)[number]))
    throw unsupported("DeleteOptions", "propagationPolicy", policy, [...POLICIES, "nil"]);
  const grace =
    typeof body.gracePeriodSeconds === "number" ? body.gracePeriodSeconds : integer(query, "gracePeriodSeconds");
  const dryRun = Array.isArray(body.dryRun) ? body.dryRun.map(String) : query.getAll("dryRun");
  return {
    ...(policy === undefined ? {} : { propagationPolicy: policy as (typeof POLICIES)[number] }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(isRecord(body.preconditions) ? { preconditions: body.preconditions } : {}),
    dryRun: dryRunOf(dryRun, "DeleteOptions"),
  };
}

function checkOrphaning(body: Record<string, unknown>, query: Query): void {
  const policy = body.propagationPolicy ?? query.get("propagationPolicy") ?? undefined;
  if (policy === undefined || orphaning(body, query) === undefined) return;
  throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    {
      field: "propagationPolicy",
      kind: "Invalid",
      badValue: policy,
      detail: "orphanDependents and deletionPropagation cannot be both set",
    },
  ]);
}

function orphaning(body: Record<string, unknown>, query: Query): string | undefined {
  const orphan = typeof body.orphanDependents === "boolean" ? body.orphanDependents : flag(query, "orphanDependents");
  if (orphan === undefined) return undefined;
  return orphan ? "Orphan" : "Background";
}

function parseDeleteBody(bytes: Buffer, type: string): Record<string, unknown> {
  if (type === PROTOBUF) return parseProtobuf(bytes);
  const bodyText = bytes.toString("utf8");
  if (type === "application/yaml") return recordOr(readYaml(bodyText));
  try {
    return recordOr(JSON.parse(bodyText));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${goComplaint(bodyText)}`);
  }
}

const recordOr = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
