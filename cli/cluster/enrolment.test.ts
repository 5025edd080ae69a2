import { createHash } from "node:crypto";
import { parseOwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { expect, it } from "vitest";
import { enrol } from "./enrolment.ts";

const east = parseClusterName("east");

it("gives the hub the public half and the worker the private one", () => {
  const { publicKey, secret } = enrol(east, "manager-key", { url: "rediss://redis.example:6380" });
  const { stringData } = secret;
  expect(parseOwnKeys(stringData["key.pem"] ?? "")[0].publicKey.text).toBe(publicKey);
  expect(stringData).toMatchObject({
    cluster: "east",
    "manager-key": "manager-key",
    "redis-url": "rediss://jobferry-east@redis.example:6380",
  });
});

it("the Redis rule ends at the cluster's brace and knows only the password's hash", () => {
  const { acl, secret } = enrol(east, "manager-key", { url: "redis://redis" });
  const password = secret.stringData["redis-password"] ?? "";
  expect(acl).toContain("ACL SETUSER jobferry-east reset on ~{jobferry-east}:* ");
  expect(acl).toContain(`#${createHash("sha256").update(password).digest("hex")}`);
  expect(acl).not.toContain(password);
});

it("never gives two clusters the same secrets", () => {
  const [one, other] = [enrol(east, "k", { url: "redis://r" }), enrol(east, "k", { url: "redis://r" })];
  expect(one.secret.stringData["redis-password"]).not.toBe(other.secret.stringData["redis-password"]);
  expect(one.publicKey).not.toBe(other.publicKey);
});

it("tells the agent of Sentinels, or of a Redis Cluster, and of the authority to trust", () => {
  const sentinel = enrol(east, "k", { url: "rediss://s1,s2", mode: "sentinel", sentinelMaster: "main", ca: "PEM" });
  expect(sentinel.secret.stringData).toMatchObject({
    "redis-url": "rediss://jobferry-east@s1,s2",
    "redis-mode": "sentinel",
    "redis-sentinel-master": "main",
    "redis-ca.crt": "PEM",
    "redis-ca-file": "/etc/jobferry/redis-ca.crt",
  });
  expect(enrol(east, "k", { url: "redis://n1,n2", mode: "cluster" }).secret.stringData).toMatchObject({
    "redis-mode": "cluster",
  });
  expect(Object.keys(enrol(east, "k", { url: "redis://r", mode: "single" }).secret.stringData)).not.toContain(
    "redis-mode",
  );
});
