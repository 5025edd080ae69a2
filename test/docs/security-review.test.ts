/** Each finding of the security review names its tests, and they are there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./page.ts";

const FINDINGS = 25;

const rows = readFileSync(join(root, "docs/security-review.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(1)
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

it("all findings are there", () => {
  expect(rows).toHaveLength(FINDINGS);
});

it.each(rows)("%s", (_found, _who, holds = "", tests = "") => {
  const files = [...tests.matchAll(/`([\w./-]+)`/g)].map(([, path = ""]) => path);
  // One without a test must be said to be open.
  if (files.length === 0) expect(holds).toContain("SECURITY.md#not-defended-yet");
  for (const path of files) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
});
