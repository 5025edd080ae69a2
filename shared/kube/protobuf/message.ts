/**
 * Messages as tables of the fields that we read; all others are skipped where they stand, which is most of what makes this
 * cheaper than JSON. The result is what the same object is in JSON: Kubernetes' protobuf writes empty values that its JSON
 * leaves out, so they are left out here, too, except where the JSON has them.
 */
import { BYTES, VARINT, WireReader } from "./wire.ts";

type Read = Record<string, unknown>;

export interface Field {
  readonly wireType: number;
  into(message: Read, reader: WireReader): void;
}

/** By field number. */
export type Fields = Readonly<Record<number, Field>>;

export function readMessage(fields: Fields, bytes: Buffer): Read {
  const reader = new WireReader(bytes);
  return readFields(fields, reader, bytes.length);
}

function readFields(fields: Fields, reader: WireReader, end: number): Read {
  const message: Read = {};
  while (reader.at < end) {
    const tag = reader.int();
    const field = fields[Math.floor(tag / 8)];
    const wireType = tag % 8;
    if (field === undefined) reader.skip(wireType);
    else {
      reader.check(wireType === field.wireType);
      field.into(message, reader);
    }
  }
  reader.check(reader.at === end);
  return message;
}

const embedded = (fields: Fields, reader: WireReader): Read => {
  const end = reader.end();
  return readFields(fields, reader, end);
};

export const text = (name: string): Field => ({
  wireType: BYTES,
  into(message, reader) {
    const value = reader.text();
    if (value !== "") message[name] = value;
  },
});

export const texts = (name: string): Field => ({
  wireType: BYTES,
  into: (message, reader) => listIn(message, name).push(reader.text()),
});

export const number = (name: string): Field => ({
  wireType: VARINT,
  into(message, reader) {
    const value = reader.int();
    if (value !== 0) message[name] = value;
  },
});

/** A number that JSON shows even when it is zero. */
export const shownNumber = (name: string): Field => ({
  wireType: VARINT,
  into(message, reader) {
    message[name] = reader.int();
  },
});

/** A truth value that may be absent: JSON shows it when it is false. */
export const flag = (name: string): Field => ({
  wireType: VARINT,
  into(message, reader) {
    message[name] = reader.int() !== 0;
  },
});

export const raw = (name: string): Field => ({
  wireType: BYTES,
  into(message, reader) {
    message[name] = reader.bytes();
  },
});

export const part = (name: string, fields: Fields): Field => ({
  wireType: BYTES,
  into(message, reader) {
    message[name] = embedded(fields, reader);
  },
});

export const parts = (name: string, fields: Fields): Field => ({
  wireType: BYTES,
  into: (message, reader) => listIn(message, name).push(embedded(fields, reader)),
});

const textEntry: Fields = { 1: text("key"), 2: text("value") };

export const textMap = (name: string): Field => ({
  wireType: BYTES,
  into(message, reader) {
    const { key = "", value = "" } = embedded(textEntry, reader);
    mapIn(message, name)[String(key)] = value;
  },
});

const quantityEntry: Fields = { 1: text("key"), 2: part("value", { 1: text("string") }) };

export const quantities = (name: string): Field => ({
  wireType: BYTES,
  into(message, reader) {
    const { key = "", value } = embedded(quantityEntry, reader) as { key?: string; value?: { string?: string } };
    mapIn(message, name)[key] = value?.string ?? "0";
  },
});

const timestamp: Fields = { 1: shownNumber("seconds") };
/** Objects of one moment come together, and a date is dear to format. */
let lastTime = { seconds: 0, text: "1970-01-01T00:00:00Z" };

/** JSON shows whole seconds; an unset time as null, which is left out here. */
export const time = (name: string): Field => ({
  wireType: BYTES,
  into(message, reader) {
    const { seconds } = embedded(timestamp, reader) as { seconds?: number };
    if (seconds === undefined) return;
    if (seconds !== lastTime.seconds) {
      const date = new Date(seconds * 1000);
      reader.check(!Number.isNaN(date.getTime()));
      lastTime = { seconds, text: `${date.toISOString().slice(0, -5)}Z` };
    }
    message[name] = lastTime.text;
  },
});

function listIn(message: Read, name: string): unknown[] {
  const list = message[name];
  if (Array.isArray(list)) return list;
  const fresh: unknown[] = [];
  message[name] = fresh;
  return fresh;
}

function mapIn(message: Read, name: string): Read {
  const map = message[name];
  if (map !== undefined) return map as Read;
  const fresh: Read = {};
  message[name] = fresh;
  return fresh;
}
