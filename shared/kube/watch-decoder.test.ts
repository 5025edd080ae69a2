import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonWatchDecoder } from "./watch-decoder.ts";

const lines = (events: object[]): Buffer => Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));

test("finds the same events wherever the chunks are cut", () => {
  const event = fc.record({
    type: fc.constantFrom("ADDED", "MODIFIED", "DELETED"),
    object: fc.record({ metadata: fc.record({ name: fc.string({ unit: "grapheme" }) }) }),
  });
  fc.assert(
    fc.property(fc.array(event), fc.array(fc.nat(200)), (events, cuts) => {
      const decoder = new JsonWatchDecoder();
      const bytes = lines(events);
      const found: object[] = [];
      let from = 0;
      for (const length of [...cuts, bytes.length]) {
        found.push(...decoder.push(bytes.subarray(from, from + length)));
        from += length;
      }
      expect(found).toEqual(events);
    }),
  );
});

test.each([
  ["no JSON", "<html>\n", "not JSON"],
  ["no event", '{"kind":"Status"}\n', "no type or object"],
  ["no object", '{"type":"ADDED","object":null}\n', "no type or object"],
])("refuses %s", (_, text, message) => {
  expect(() => new JsonWatchDecoder().push(Buffer.from(text))).toThrow(message);
});

test("refuses a line without end before it fills the memory", () => {
  const decoder = new JsonWatchDecoder(1000);
  const chunk = Buffer.alloc(300, "x");
  for (let i = 0; i < 3; i++) decoder.push(chunk);
  expect(() => decoder.push(chunk)).toThrow("longer than 1000 bytes");
});

test("skips empty lines", () => {
  expect(new JsonWatchDecoder().push(Buffer.from('\n{"type":"ADDED","object":{}}\n\n'))).toHaveLength(1);
});
