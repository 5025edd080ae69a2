import { expect, it } from "vitest";
import { judgeAudit } from "./audit.ts";

it.each([
  ["nothing is known", { vulnerabilities: {} }, { serious: [] }],
  ["what is not serious", { vulnerabilities: { a: { severity: "moderate" } } }, { serious: [] }],
  [
    "what is",
    { vulnerabilities: { a: { severity: "high", range: "<2" }, b: { severity: "critical" } } },
    { serious: ["a <2: high", "b : critical"] },
  ],
  [
    "a registry without audits",
    { message: "request failed, reason: 404", error: { code: "ENOAUDIT", summary: "" } },
    { skipped: "ENOAUDIT" },
  ],
  [
    "no network",
    { error: { code: "ENOTFOUND", summary: "getaddrinfo ENOTFOUND" } },
    { skipped: "getaddrinfo ENOTFOUND" },
  ],
])("npm audit: %s", (_, answer, wanted) => {
  expect(judgeAudit(JSON.stringify(answer))).toEqual(wanted);
});

it.each([
  ["", "no answer"],
  ["<html>", "<html>"],
])("npm audit: an answer that is none is no fault of ours: %j", (said, skipped) => {
  expect(judgeAudit(said)).toEqual({ skipped });
});
