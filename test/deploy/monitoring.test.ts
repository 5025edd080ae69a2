import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { allMetrics } from "../../scripts/reference/metrics.ts";
import { allAlerts, dashboardQueries } from "./monitoring.ts";

/** Of metrics with a prefix of ours or of Kubernetes' controllers; the other words of a query are functions and labels. */
const METRIC = /\b(?:jobferry|job_controller|workqueue|rest_client)_\w+/g;
const metrics = new Map((await allMetrics()).map(({ name, labels, type }) => [name, { labels, type }]));

const queries = [...allAlerts().map(({ expr }) => expr), ...dashboardQueries()];

it("alerts and dashboard ask for metrics that there are, in the form that their kind has", () => {
  const asked = queries.flatMap((query) => query.match(METRIC) ?? []);
  expect(asked.length).toBeGreaterThanOrEqual(queries.length - 2);
  for (const name of asked) {
    const isBucket = name.endsWith("_bucket");
    const known = metrics.get(isBucket ? name.slice(0, -"_bucket".length) : name);
    expect(known, name).toBeDefined();
    expect(known?.type === "histogram", `${name} is a histogram`).toBe(isBucket);
  }
});

it("alerts and dashboard choose and group by labels that their metrics have", () => {
  // `le` is a histogram's, `pod` is added by the PodMonitor.
  const always = ["le", "pod"];
  for (const query of queries) {
    const labels = (query.match(METRIC) ?? []).flatMap(
      (name) => metrics.get(name.replace(/_bucket$/, ""))?.labels ?? [],
    );
    const groupings = [...query.matchAll(/\b(?:by|on) ?\(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
    const choices = [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label);
    for (const label of [...groupings, ...choices].filter((each) => each !== ""))
      expect([...labels, ...always], `${label} in ${query}`).toContain(label);
  }
});

it("each alert has a severity, and a row on the page that says what to do", () => {
  const page = readFileSync(new URL("../../docs/monitoring.md", import.meta.url), "utf8");
  for (const { alert, labels, annotations } of allAlerts()) {
    expect(["critical", "warning"], alert).toContain(labels.severity);
    expect(annotations.summary.length, alert).toBeGreaterThan(10);
    expect(annotations.description.length, alert).toBeGreaterThan(10);
    expect(page).toContain(`| \`${alert}\` | ${labels.severity} |`);
  }
  const named = [...page.matchAll(/^\| `(Jobferry\w+)` \|/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(
    allAlerts()
      .map(({ alert }) => alert)
      .toSorted(),
  );
});
