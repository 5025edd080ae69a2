import { describe, expect, it } from "vitest";
import { delivery } from "../delivery.ts";
import { report } from "../report.ts";
import corpus from "./jobferry-2.json" with { type: "json" };

/** Messages as this version wrote them when the protocol was frozen. They are added to, never changed. */
describe("a recorded message of jobferry/2 is read as it was written", () => {
  it.each(corpus.deliveries.map((message) => [nameOf(message), message]))("delivery %s", (_, message) => {
    expect(delivery.parse(message)).toEqual(message);
  });

  it.each(corpus.reports.map((message) => [nameOf(message), message]))("report %s", (_, message) => {
    expect(report.parse(message)).toEqual(message);
  });
});

describe("the corpus", () => {
  const kinds = (messages: readonly { kind: string }[]): Set<string> => new Set(messages.map(({ kind }) => kind));

  it("has every kind of message", () => {
    expect([...kinds(corpus.deliveries)].sort()).toEqual([
      "assignment",
      "challenge",
      "contents",
      "inventory",
      "release",
    ]);
    expect([...kinds(corpus.reports)].sort()).toEqual(
      [
        "ask",
        "available",
        "event",
        "heartbeat",
        "hello",
        "inventory",
        "newer",
        "refused",
        "status",
        "withdrawn",
      ].sort(),
    );
  });
});

function nameOf({ kind, ...rest }: { kind: string; desired?: string }): string {
  return "desired" in rest ? `${kind}, ${rest.desired}` : kind;
}
