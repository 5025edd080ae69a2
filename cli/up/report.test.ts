import { expect, test } from "vitest";
import { reporterFor } from "./report.ts";

const hub = { name: "hub", role: "hub", url: "https://127.0.0.1:1", kubeconfig: "/s/hub", startedInMs: 5 } as const;
const worker = { ...hub, name: "worker-1", role: "worker", kubeconfig: "/s/worker-1" } as const;
const outcomes = [
  { name: "plain", shows: "a Job runs", differences: [] },
  { name: "indexed", shows: "indexes", differences: ["state is Failed, not Complete"] },
];

test("json: one object per line", () => {
  const lines: string[] = [];
  const report = reporterFor("json", (line) => lines.push(line));
  report.starting(1);
  report.messages("memory");
  report.clusterReady(hub);
  report.ready([hub, worker], 12);
  report.hints([hub, worker]);
  report.demoEnded(outcomes, 34);
  report.stopping();
  report.stopped();
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { event: "starting", workers: 1 },
    { event: "messages", carrier: "memory" },
    { event: "clusterReady", ...hub },
    { event: "ready", startedInMs: 12, clusters: [hub, worker] },
    { event: "demoEnded", tookMs: 34, outcomes },
    { event: "stopping" },
    { event: "stopped" },
  ]);
});

test("text: names every kubeconfig and a command to try", () => {
  const lines: string[] = [];
  const report = reporterFor("text", (line) => lines.push(line));
  report.starting(1);
  report.ready([hub, worker], 1234);
  report.hints([hub, worker]);
  const text = lines.join("\n");
  expect(text).toContain("an embedded hub and 1 worker cluster ...");
  expect(text).toContain("Ready after 1.2 s.");
  expect(text).toContain("export KUBECONFIG=/s/hub:/s/worker-1");
  expect(text).toContain("kubectl --context worker-1 get nodes");
});

test("text: says how each example ended and what differed", () => {
  const lines: string[] = [];
  reporterFor("text", (line) => lines.push(line)).demoEnded(outcomes, 65_432);
  const text = lines.join("\n");
  expect(text).toMatch(/as expected +plain +a Job runs/);
  expect(text).toMatch(/DIFFERENT +indexed +state is Failed, not Complete/);
  expect(text).toContain("1 of 2 examples ended as expected, after 65.4 s.");
});
