import { expect, it } from "vitest";
import { packagesOf, sbom } from "./sbom.ts";

it("a file belongs to the package whose folder is nearest", () => {
  const files = [
    "shared/protocol/codec.ts",
    "node_modules/zod/v4/index.js",
    "node_modules/@kubernetes/client-node/dist/a.js",
    "node_modules/bullmq/node_modules/semver/index.js",
  ];
  expect([...packagesOf(files)]).toEqual([
    "node_modules/zod",
    "node_modules/@kubernetes/client-node",
    "node_modules/bullmq/node_modules/semver",
  ]);
});

it("lists the packages that went in, with version and hash, and no other; the same every time", async () => {
  const packages = new Set(["node_modules/zod", "node_modules/ioredis"]);
  const list = await sbom(packages);
  expect(list.components.map(({ name }) => name).toSorted()).toEqual(["ioredis", "zod"]);
  for (const { version, hashes } of list.components) expect([version, hashes?.length]).toEqual([version, 1]);
  expect(await sbom(packages)).toEqual(list);
});
