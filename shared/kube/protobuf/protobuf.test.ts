import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { ApiError } from "../errors.ts";
import { ProtobufWatchDecoder } from "../watch-decoder.ts";
import { number, part, parts, quantities, readMessage, shownNumber, text, textMap, texts, time } from "./message.ts";
import { decodeAnswer, decodeEvent, objectMeta } from "./meta.ts";
import { BrokenProtobuf } from "./wire.ts";

const varint = (value: bigint): number[] => {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left >= 128n; left >>= 7n) bytes.push(Number(left & 127n) + 128);
  return [...bytes, Number(left)];
};
const int = (field: number, value: bigint | number): Buffer =>
  Buffer.from([...varint(BigInt(field * 8)), ...varint(BigInt(value))]);
const bytes = (field: number, value: string | Buffer): Buffer => {
  const content = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(BigInt(field * 8 + 2)), ...varint(BigInt(content.length))]), content]);
};
const wrapped = (kind: string, object: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from("k8s\0"),
    bytes(1, Buffer.concat([bytes(1, "v1"), bytes(2, kind)])),
    bytes(2, object),
    bytes(3, ""),
    bytes(4, ""),
  ]);
const podNamed = (name: string): Buffer => bytes(1, bytes(1, name));
const eventOf = (type: string, object: Buffer): Buffer => Buffer.concat([bytes(1, type), bytes(2, bytes(1, object))]);
const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
};
const fields = {
  1: part("metadata", objectMeta),
  2: part("spec", { 2: parts("containers", { 1: text("name"), 8: part("resources", { 2: quantities("requests") }) }) }),
  3: part("status", { 2: parts("conditions", { 1: text("type"), 4: time("lastTransitionTime") }) }),
};

describe("a message", () => {
  it("holds whole numbers of any size, negative ones too", () => {
    const whole = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(whole, (value) => {
        expect(readMessage({ 1: shownNumber("n") }, int(1, value))).toEqual({ n: Number(value) });
      }),
    );
  });

  it("holds text, lists, maps and parts, and skips what is not asked for", () => {
    const known = { 1: text("name"), 3: texts("list"), 4: textMap("map"), 5: parts("parts", { 2: number("n") }) };
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.array(fc.string()),
        fc.nat(),
        (name, list, skipped) => {
          const message = Buffer.concat([
            int(2, skipped),
            bytes(1, name),
            ...list.map((entry) => bytes(3, entry)),
            bytes(900, name),
            bytes(4, Buffer.concat([bytes(1, "key"), bytes(2, name)])),
            bytes(4, bytes(1, "empty")),
            bytes(5, int(2, 7)),
            bytes(5, int(1, 7)),
          ]);
          expect(readMessage(known, message)).toEqual({
            name,
            ...(list.length > 0 && { list }),
            map: { key: name, empty: "" },
            parts: [{ n: 7 }, {}],
          });
        },
      ),
    );
  });

  it("leaves out what JSON leaves out", () =>
    expect(
      readMessage(
        { 1: text("a"), 2: number("b"), 3: shownNumber("c"), 4: time("d") },
        Buffer.concat([bytes(1, ""), int(2, 0), int(3, 0), bytes(4, "")]),
      ),
    ).toEqual({ c: 0 }));

  it.each([
    [1_772_359_200, "2026-03-01T10:00:00Z"],
    [0, "1970-01-01T00:00:00Z"],
    [-1, "1969-12-31T23:59:59Z"],
    [1_772_359_200, "2026-03-01T10:00:00Z"],
  ])("shows second %d as %s", (seconds, shown) =>
    expect(readMessage({ 1: time("t") }, bytes(1, Buffer.concat([int(1, seconds), int(2, 999_999_999)])))).toEqual({
      t: shown,
    }),
  );

  it.each<[string, Buffer]>([
    ["a string longer than the message", Buffer.from([0x0a, 5, 65])],
    ["a number without end", Buffer.from([0x10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255])],
    ["a number that is cut", Buffer.from([0x10, 255])],
    ["a negative length", Buffer.from([0x0a, ...varint(-3n)])],
    ["an unknown way to store", Buffer.from([0x1b])],
    ["a field stored in another way", int(1, 5)],
    ["a part that ends within its last field", Buffer.from([0x2a, 2, 0x12, 4, 65, 65, 65, 65])],
    ["a time that no calendar has", bytes(6, int(1, 2n ** 62n))],
  ])("is refused with %s", (_, message) => {
    const known = { 1: text("a"), 2: number("b"), 5: parts("p", { 2: text("c") }), 6: time("t") };
    expect(() => readMessage(known, message)).toThrow(BrokenProtobuf);
  });
});

describe("an answer", () => {
  it("is a Status when its envelope says so", () => {
    const details = Buffer.concat([
      bytes(1, "a"),
      bytes(4, Buffer.concat([bytes(1, "R"), bytes(3, "spec")])),
      int(5, 3),
    ]);
    const status = Buffer.concat([
      bytes(2, "Failure"),
      bytes(3, "no"),
      bytes(4, "Invalid"),
      bytes(5, details),
      int(6, 422),
    ]);
    expect(decodeAnswer(fields, wrapped("Status", status))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      message: "no",
      reason: "Invalid",
      code: 422,
      details: { name: "a", causes: [{ reason: "R", field: "spec" }], retryAfterSeconds: 3 },
    });
  });

  it("never makes the reader fail in a way of its own, whatever its bytes", () => {
    const valid = wrapped("Pod", podNamed("a"));
    const spoilt = fc
      .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 })
      .map((changes) => {
        const copy = Buffer.from(valid);
        for (const [at, value] of changes) copy[at] = value;
        return copy;
      });
    const any = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
    const enveloped = any.map((content) => wrapped("Pod", content));
    fc.assert(
      fc.property(fc.oneof(spoilt, any, enveloped), (answer) => {
        let failure: unknown = new ApiError(0, "InvalidResponse", "");
        try {
          decodeAnswer(fields, answer);
        } catch (error) {
          failure = error;
        }
        expect(failure).toMatchObject({ code: 0, reason: "InvalidResponse" });
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a watch", () => {
  const event = (type: string, name: string): Buffer => framed(eventOf(type, wrapped("Pod", podNamed(name))));

  test("shows the same events wherever the chunks are cut", () => {
    const named = fc.tuple(fc.constantFrom("ADDED", "MODIFIED", "DELETED"), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(fc.array(named), fc.array(fc.nat(200)), (events, cuts) => {
        const decoder = new ProtobufWatchDecoder(fields);
        const stream = Buffer.concat(events.map(([type, name]) => event(type, name)));
        const found: object[] = [];
        let from = 0;
        for (const length of [...cuts, stream.length]) {
          found.push(...decoder.push(stream.subarray(from, from + length)));
          from += length;
        }
        expect(found).toMatchObject(events.map(([type, name]) => ({ type, object: { metadata: { name } } })));
        expect(found).toHaveLength(events.length);
      }),
    );
  });

  test("refuses a frame that is too long before it fills the memory", () => {
    const announced = Buffer.from([0, 1, 0, 0]);
    expect(() => new ProtobufWatchDecoder(fields, 1_000).push(announced)).toThrow("longer than 1000 bytes");
  });

  test("refuses an event without object", () =>
    expect(() => decodeEvent(fields, bytes(1, "ADDED"))).toThrow("no type or object"));
});
