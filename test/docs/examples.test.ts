import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { blocksOf, root } from "./page.ts";

it("examples.md shows the manifests of the demo, each under its name", () => {
  const folder = join(root, "cli/up/demo");
  const manifests = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const shown = blocksOf("docs/examples.md").filter(({ language }) => language === "yaml");
  expect(shown.map(({ section, text }) => [section.split(":")[0], `${text}\n`]).sort()).toEqual(
    manifests.map((name) => [name.replace(".yaml", ""), readFileSync(join(folder, name), "utf8")]).sort(),
  );
});
