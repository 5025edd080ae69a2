import type { Scenario } from "../exchange.ts";
import { job, jobs, mergePatch } from "../objects.ts";

export const jobRules: Scenario = {
  name: "job rules",
  ownWording: true,
  exchanges: [
    {
      name: "restart policy Always",
      method: "POST",
      path: jobs,
      body: { metadata: { name: "x" }, spec: { template: { spec: { containers: [{ name: "a", image: "b" }] } } } },
    },
    { name: "no template", method: "POST", path: jobs, body: { metadata: { name: "x" }, spec: {} } },
    {
      name: "negative numbers",
      method: "POST",
      path: jobs,
      body: job("x", {
        parallelism: -1,
        completions: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
      }),
    },
    { name: "Indexed without completions", method: "POST", path: jobs, body: job("x", { completionMode: "Indexed" }) },
    {
      name: "a name too long for Indexed pods",
      method: "POST",
      path: jobs,
      body: job("x".repeat(63), { completionMode: "Indexed", completions: 10 }),
    },
    {
      name: "per-index limit without Indexed",
      method: "POST",
      path: jobs,
      body: job("x", { backoffLimitPerIndex: 1 }),
    },
    {
      name: "unknown modes and policies",
      method: "POST",
      path: jobs,
      body: job("x", { completionMode: "Odd", podReplacementPolicy: "Sometimes" }),
    },
    {
      name: "a selector of one's own",
      method: "POST",
      path: jobs,
      body: job("x", { selector: { matchLabels: { a: "b" } } }),
    },
    {
      name: "a failure rule with OnFailure",
      method: "POST",
      path: jobs,
      body: job("x", {
        template: { spec: { restartPolicy: "OnFailure", containers: [{ name: "a", image: "b" }] } },
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [0, 1, 1] } }] },
      }),
    },
    { name: "managedBy without a domain", method: "POST", path: jobs, body: job("x", { managedBy: "me" }) },
    { name: "a good one", method: "POST", path: jobs, body: job("good") },
    {
      name: "its template is fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { template: { metadata: { labels: { a: "b" } } } } },
    },
    {
      name: "its completions are fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { completions: 5 } },
    },
    {
      name: "its mode is fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { completionMode: "Indexed", completions: 3 } },
    },
    {
      name: "its manager is fixed",
      method: "PATCH",
      path: `${jobs}/good`,
      headers: mergePatch,
      body: { spec: { managedBy: "ex.org/me" } },
    },
  ],
};
