/**
 * Reads Kubernetes' protobuf encoding as JSON. kubectl's typed commands (`create namespace`, `create job`, `drain`) send it and
 * nothing else; answers may be JSON.
 */
import { BrokenProtobuf, BYTES, VARINT, WireReader } from "@jobferry/shared/kube/protobuf/wire.ts";
import { type FieldType, hasKind, kindSchema, type Scalar, wireSchema } from "./schema.ts";

/** Bytes that are not the message they claim to be. */
export class ProtobufError extends Error {}

const MAGIC = Buffer.from("k8s\0");

const isProtobuf = (body: Buffer): boolean => body.subarray(0, MAGIC.length).equals(MAGIC);

/** The object inside the envelope (`runtime.Unknown`), with the kind and version that the envelope names. */
export function decodeProtobuf(body: Buffer): Record<string, unknown> {
  if (!isProtobuf(body)) throw new ProtobufError("the provided data does not appear to be a protobuf message");
  try {
    return readEnvelope(readMessage(body.subarray(MAGIC.length)));
  } catch (error) {
    // A RangeError is a time that no calendar has.
    if (error instanceof BrokenProtobuf || error instanceof RangeError) throw new ProtobufError("unexpected EOF");
    throw error;
  }
}

function readEnvelope(envelope: Message): Record<string, unknown> {
  const typeMeta = readMessage(bytesAt(envelope, 1));
  const apiVersion = bytesAt(typeMeta, 1).toString();
  const kind = bytesAt(typeMeta, 2).toString();
  if (!hasKind(kind)) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...readKind(kind, bytesAt(envelope, 2)) };
}

type Wire = number | Buffer;
type Message = Map<number, Wire[]>;

/** Splits a message into its fields; a repeated field has several values. */
function readMessage(bytes: Buffer): Message {
  const message: Message = new Map();
  const reader = new WireReader(bytes);
  while (reader.at < reader.length) {
    const tag = reader.int();
    const wireType = tag % 8;
    reader.check(wireType === VARINT || wireType === BYTES);
    const values = message.get(Math.floor(tag / 8)) ?? [];
    values.push(wireType === VARINT ? reader.int() : reader.bytes());
    message.set(Math.floor(tag / 8), values);
  }
  return message;
}

function bytesAt(message: Message, number: number): Buffer {
  const value = message.get(number)?.at(-1);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function readKind(kind: string, bytes: Buffer): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const schema = kindSchema(kind);
  const root = readMessage(bytes);
  for (const [name, path] of wireSchema(kind)) {
    const type = schema.get(name);
    const values = valuesAt(root, path);
    if (type === undefined || values.length === 0) continue;
    const value = readField(type, values);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

function valuesAt(root: Message, path: readonly number[]): Wire[] {
  let message = root;
  for (const number of path.slice(0, -1)) message = readMessage(bytesAt(message, number));
  return message.get(path.at(-1) ?? 0) ?? [];
}

function readField(type: FieldType, values: readonly Wire[]): unknown {
  if (type.tag === "list") return values.map((value) => readSingle(type.items, value));
  if (type.tag !== "map") return readSingle(type, values.at(-1) ?? 0);
  const result: Record<string, unknown> = {};
  for (const entry of values) {
    const message = readMessage(asBytes(entry));
    const [value] = message.get(2) ?? [];
    result[bytesAt(message, 1).toString()] = value === undefined ? "" : readField(type.values, [value]);
  }
  return result;
}

function readSingle(type: FieldType, value: Wire): unknown {
  if (type.tag === "kind") return readKind(type.kind, asBytes(value));
  if (type.tag === "scalar") return readScalar(type.scalar, value);
  throw new ProtobufError("lists and maps cannot be nested");
}

function asBytes(value: Wire): Buffer {
  if (!Buffer.isBuffer(value)) throw new ProtobufError("proto: wrong wireType for a message");
  return value;
}

function readScalar(scalar: Scalar, value: Wire): unknown {
  switch (scalar) {
    case "string":
      return asBytes(value).toString();
    case "bytes":
      return asBytes(value).toString("base64");
    case "bool":
      return value !== 0;
    case "int32":
    case "int64":
    case "number":
      return Number(value);
    case "time":
    case "micro":
      return readTime(readMessage(asBytes(value)), scalar);
    case "quantity":
      return bytesAt(readMessage(asBytes(value)), 1).toString();
    case "intOrString": {
      const message = readMessage(asBytes(value));
      const isText = message.get(1)?.at(-1) === 1;
      return isText ? bytesAt(message, 3).toString() : Number(message.get(2)?.at(-1) ?? 0);
    }
    case "any":
      return JSON.parse(bytesAt(readMessage(asBytes(value)), 1).toString() || "null");
  }
}

/** The zero time is an empty message, which JSON leaves out. */
function readTime(message: Message, scalar: "time" | "micro"): string | undefined {
  if (message.size === 0) return undefined;
  const seconds = Number(message.get(1)?.at(-1) ?? 0);
  const micros = Math.floor(Number(message.get(2)?.at(-1) ?? 0) / 1000);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return scalar === "micro" ? `${whole}.${String(micros).padStart(6, "0")}Z` : `${whole}Z`;
}
