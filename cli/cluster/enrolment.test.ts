import { createHash } from "node:crypto";
import { parseOwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { expect, it } from "vitest";
import { enrol } from "./enrolment.ts";

const east = parseClusterName("east");

it("gives the hub the public half and the worker the private one", () => {
  const { publicKey, secret } = enrol(east, "manager-key", "rediss://redis.example:6380");
  const { stringData } = secret;
  expect(parseOwnKeys(stringData["key.pem"] ?? "")[0].publicKey.text).toBe(publicKey);
  expect(stringData).toMatchObject({
    cluster: "east",
    "manager-key": "manager-key",
    "redis-url": "rediss://jobferry-east@redis.example:6380",
  });
});

it("the Redis rule ends at the cluster's brace and knows only the password's hash", () => {
  const { acl, secret } = enrol(east, "manager-key", "redis://redis");
  const password = secret.stringData["redis-password"] ?? "";
  expect(acl).toContain("ACL SETUSER jobferry-east reset on ~{jobferry-east}:* ");
  expect(acl).toContain(`#${createHash("sha256").update(password).digest("hex")}`);
  expect(acl).not.toContain(password);
});

it("never gives two clusters the same secrets", () => {
  const [one, other] = [enrol(east, "k", "redis://r"), enrol(east, "k", "redis://r")];
  expect(one.secret.stringData["redis-password"]).not.toBe(other.secret.stringData["redis-password"]);
  expect(one.publicKey).not.toBe(other.publicKey);
});
