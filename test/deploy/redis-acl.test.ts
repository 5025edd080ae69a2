import { readFileSync } from "node:fs";
import { aclForManager, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

it("deploy/redis gives the manager exactly what the code asks for", () => {
  // A user in a file starts from nothing, so `reset` is not needed there.
  const rules = aclForManager().filter((rule) => rule !== "reset");
  const [first, second] = read("redis/users.acl").trimEnd().split("\n");
  expect(first).toBe("user default off");
  expect(second).toBe(`user ${MANAGER_USER} ${rules.join(" ")} #SHA256_OF_THE_MANAGERS_PASSWORD`);
});
