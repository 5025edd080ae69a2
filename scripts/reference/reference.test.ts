import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../run.ts";
import { OTHER_CODES } from "./codes.ts";
import { marksIn } from "./marks.ts";
import { FOLDER, referencePages } from "./pages.ts";
import * as reasons from "./reasons.ts";

const pages = await referencePages();

/** All sources of the programs, tests aside. */
const sources = ["shared", "manager", "worker-agent", "cli"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((path) => path.endsWith(".ts") && !/\.test\.ts$|\/testing\/|node_modules/.test(path))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");

const found = (pattern: RegExp): string[] => [...new Set([...sources.matchAll(pattern)].map(([, name = ""]) => name))];

describe("docs/reference", () => {
  it.each([...pages.keys()])("%s is up to date", (path) => {
    const stored = readFileSync(join(root, path), "utf8");
    expect(stored === pages.get(path), `${path} is out of date: run npm run reference`).toBe(true);
  });

  it("has no page that is no longer made", () => {
    const stored = readdirSync(join(root, FOLDER)).map((name) => `${FOLDER}/${name}`);
    expect(stored.toSorted()).toEqual([...pages.keys()].toSorted());
  });

  it("asks for a comment on a mark that has none", () => {
    const text = 'export const NEW_LABEL = "jobferry.dev/new";\n';
    expect(() => marksIn(text, "marks.ts")).toThrow('marks.ts: NEW_LABEL needs a comment of the form "/** Hub Job,');
  });
});

describe("what the sources write is in the reference:", () => {
  const events = { ...reasons.HUB_JOB_EVENTS, ...reasons.CLUSTER_EVENTS, ...reasons.JOB_CONTROLLER_EVENTS };
  const conditions = { ...reasons.CLUSTER_CONDITIONS.Connected, ...reasons.CLUSTER_CONDITIONS.Ready };
  const others = { ...reasons.REFUSALS, ...reasons.JOB_CONDITIONS, ...reasons.SHADOW_POD_REASONS };
  const known = { ...events, ...conditions, ...others };

  it("every reason of an event, condition or refusal", () => {
    const written = [
      ...found(/"(?:Normal|Warning)",\s*"([A-Z]\w+)"/g),
      ...found(/\breason: "([A-Z]\w+)"/g),
      ...found(/\b(?:failure|success)\("([A-Z]\w+)"/g),
    ];
    expect(written.length).toBeGreaterThan(20);
    const missing = written.filter((reason) => !(reason in known));
    expect(missing, "describe it in scripts/reference/reasons.ts, then run npm run reference").toEqual([]);
  });

  it("and no reason that they do not have", () => {
    const gone = Object.keys(known).filter((reason) => !sources.includes(`"${reason}"`));
    expect(gone, "remove it from scripts/reference/reasons.ts").toEqual([]);
  });

  it.each([
    ["metric", /"((?:jobferry|rest_client|workqueue)_[a-z_]+)"/g, "metrics.md"],
    ["error code", /"((?:protocol|transport|report)\/[a-z-]+)"/g, "error-codes.md"],
    ["mark", /"(jobferry\.dev\/[a-z-]+)"/g, "marks.md"],
  ])("every %s", (_, pattern, page) => {
    const text = pages.get(`${FOLDER}/${page}`) ?? "";
    const written = found(pattern);
    expect(written.length).toBeGreaterThan(3);
    expect(written.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it("and no code that they do not have", () => {
    expect(Object.keys(OTHER_CODES).filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
  });
});
