import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

it("every file that docs/architecture.md names is there", async () => {
  const page = await readFile(new URL("docs/architecture.md", root), "utf8");
  const named = [...page.matchAll(/`((?:manager|worker-agent|shared|cli|sandbox|test)\/[\w./-]+\.ts)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
