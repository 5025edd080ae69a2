import type { Pod } from "@jobferry/shared/job/types.ts";
import { expect, it } from "vitest";
import { Lines } from "./lines.ts";
import { choose } from "./logs.ts";

const aPod = (name: string, phase: "Pending" | "Running" | "Succeeded" | "Failed", index?: number): Pod => ({
  metadata: {
    name,
    creationTimestamp: "2026-01-01T00:00:00Z",
    ...(index === undefined ? {} : { annotations: { "batch.kubernetes.io/job-completion-index": String(index) } }),
  },
  spec: { containers: [] },
  status: { phase },
});

it.each([
  ["one that failed", [aPod("a", "Succeeded"), aPod("b", "Failed"), aPod("c", "Running")], { all: false }, ["b"]],
  ["else one that runs", [aPod("a", "Succeeded"), aPod("c", "Running")], { all: false }, ["c"]],
  ["else the last", [aPod("a", "Succeeded"), aPod("b", "Succeeded")], { all: false }, ["b"]],
  ["all, by index", [aPod("a", "Running", 10), aPod("b", "Running", 2)], { all: true }, ["b", "a"]],
  [
    "each try of an index",
    [aPod("a", "Failed", 1), aPod("b", "Running", 1), aPod("c", "Failed", 2)],
    { all: false, index: 1 },
    ["a", "b"],
  ],
  ["none where there is none", [], { all: false }, []],
])("of a Job's pods, %s is read", (_, pods, wish, expected) => {
  expect(choose(pods, wish).map(({ metadata }) => metadata.name)).toEqual(expected);
});

it("lines get their prefix however they are cut, and the last one its line break", () => {
  let text = "";
  const lines = new Lines("[a 0] ", (more) => {
    text += more;
  });
  for (const chunk of ["one\ntw", "o\n\nthr", "ee"]) lines.add(Buffer.from(chunk));
  lines.end();
  expect(text).toBe("[a 0] one\n[a 0] two\n[a 0] \n[a 0] three\n");
});
