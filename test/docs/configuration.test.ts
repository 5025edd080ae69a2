import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { upConfig } from "@jobferry/cli/up/config.ts";
import { managerConfig } from "@jobferry/manager/service.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { startConfig } from "@jobferry/worker-agent/start-command.ts";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";
import { blocksOf } from "./page.ts";

const directory = mkdtempSync(join(tmpdir(), "jobferry-configuration-page-"));
afterAll(() => rmSync(directory, { recursive: true }));

const schemas = { "jobferry-manager": managerConfig, "jobferry-agent start": startConfig, "jobferry up": upConfig };

it.each(Object.entries(schemas))("the file that configuration.md shows for %s is one it takes", (program, schema) => {
  const shown = blocksOf("docs/configuration.md").filter(({ section }) => section === program);
  const file = join(directory, `${program}.yaml`);
  writeFileSync(file, shown[0]?.text ?? "");
  expect(shown).toHaveLength(1);
  expect(loadConfig(schema, { file })).toMatchObject(parse(shown[0]?.text ?? ""));
});
