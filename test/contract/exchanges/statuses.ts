import type { Scenario } from "../exchange.ts";
import { job, jobs, mergePatch } from "../objects.ts";

export const statuses: Scenario = {
  name: "status and generation",
  ownWording: true,
  exchanges: [
    { name: "a Job", method: "POST", path: jobs, body: { ...job("one", { parallelism: 1 }), status: { active: 7 } } },
    {
      name: "a status through the front door is ignored",
      method: "PATCH",
      path: `${jobs}/one`,
      headers: mergePatch,
      body: { status: { active: 7 } },
    },
    {
      name: "a spec change counts a generation",
      method: "PATCH",
      path: `${jobs}/one`,
      headers: mergePatch,
      body: { spec: { parallelism: 2 } },
    },
    {
      name: "a label does not",
      method: "PATCH",
      path: `${jobs}/one`,
      headers: mergePatch,
      body: { metadata: { labels: { a: "b" } } },
    },
    {
      name: "a spec through the status door is ignored",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: {
        spec: { parallelism: 9 },
        metadata: { labels: { c: "d" } },
        status: { startTime: "2026-01-01T00:00:00Z", active: 2, ready: 1 },
      },
    },
    { name: "the status as an object", path: `${jobs}/one/status` },
    {
      name: "a fallen counter",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { failed: 3 } },
    },
    {
      name: "falls",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { failed: 2 } },
    },
    {
      name: "complete with a pod still active",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: {
        status: {
          completionTime: "2026-01-01T00:01:00Z",
          conditions: [
            { type: "SuccessCriteriaMet", status: "True" },
            { type: "Complete", status: "True" },
          ],
        },
      },
    },
    {
      name: "complete",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: {
        status: {
          active: 0,
          ready: 0,
          succeeded: 1,
          completionTime: "2026-01-01T00:01:00Z",
          conditions: [
            { type: "SuccessCriteriaMet", status: "True", lastTransitionTime: "2026-01-01T00:01:00Z" },
            { type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:01:00Z" },
          ],
        },
      },
    },
    {
      name: "complete is for ever",
      method: "PATCH",
      path: `${jobs}/one/status`,
      headers: mergePatch,
      body: { status: { conditions: [] } },
    },
  ],
};
