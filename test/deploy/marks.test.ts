import { readFileSync } from "node:fs";
import * as marks from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Names in marks.ts whose comment says so. */
const writtenOn = (where: RegExp): string[] => {
  const source = read("shared/protocol/marks.ts");
  const found = [...source.matchAll(/\/\*\* ([^*]*) \*\/\nexport const (\w+)/g)].filter(([, comment = ""]) =>
    where.test(comment),
  );
  return found.map(([, , name = ""]) => (marks as Record<string, string>)[name] ?? "");
};

it.each(["guard", "strip"])("deploy/hub/%s.yaml names every mark of the manager on a hub Job", (file) => {
  const ours = writtenOn(/^Hub Job( and mirror)?, by the manager/);
  expect(ours).toContain(marks.CLUSTER);
  const text = read(`deploy/hub/${file}.yaml`);
  expect(ours.filter((mark) => !text.includes(`"${mark}"`))).toEqual([]);
});

it("deploy/worker/guard.yaml names every mark of the agent on a mirror", () => {
  const ours = writtenOn(/mirror.*, by (the manager and )?the agent: (?!its Job controller)/i);
  expect(ours).toContain(marks.PROOF);
  const text = read("deploy/worker/guard.yaml");
  expect(ours.filter((mark) => !text.includes(`"${mark}"`))).toEqual([]);
});
